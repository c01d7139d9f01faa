"""Control flow: `if`, `for` and `while`, of lanes and of all threads together.

Both are printed alike; what differs is what stands in the regions: the ops of a lane, or the steps of a
plan. Blocks that lanes keep across steps are assigned by steps of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eas.ir.location import Loc
from eas.ir.nodes import (
    Break,
    Compute,
    Condition,
    Constant,
    Continue,
    For,
    If,
    Load,
    Region,
    Terminator,
    Value,
    While,
    Yield,
)
from eas.ir.types import BOOL, I32, I64, U32, U64
from eas.msl.dtypes import type_name, unsigned
from eas.msl.facts import Control, breaks_of, carried_by, is_collective, is_trivial, left_with
from eas.msl.lowering import Lowering
from eas.msl.spelling import negated
from eas.msl.text import Level, Text, call, infix, ternary
from eas.msl.tree import Act, Block, Branch, Loop, Node, Test, Variable

Body = Callable[[Region, "Ways"], None]
Values = tuple[Value, ...]
MAX_EXPRESSION = 6


@dataclass(frozen=True, slots=True)
class Ways:
    """What the values of each kind of terminator become; `left` notes a `Break`.

    If it `is_direct`, only one `Yield` leads here, and results need no variables.
    """

    yielded: Values = ()
    broken: Values = ()
    continued: Values = ()
    left: Variable | None = None
    is_direct: bool = False


def control(op: Control, ways: Ways, body: Body, low: Lowering) -> None:
    match op:
        case If():
            if not expression(op, low):
                branch(op, ways, body, low)
        case For():
            count_loop(op, ways, body, low)
        case While():
            test_loop(op, ways, body, low)


# --- branches ---------------------------------------------------------------------------------


def branch(op: If, ways: Ways, body: Body, low: Lowering) -> None:
    condition = low.at(op.condition)
    results = _own_results(op, low)
    is_optional = is_trivial(op.orelse) and isinstance(op.orelse.terminator, Yield)
    end_of_else = op.orelse.terminator
    for result in results:
        first = None
        if is_optional and isinstance(end_of_else, Yield):
            first = low.at(end_of_else.values[op.results.index(result)])
        _begin_variable(result, first, op.loc, low)
    inside = Ways(op.results, ways.broken, ways.continued, ways.left)
    then, orelse = Block(low.block), Block(low.block)
    with low.inside(then, op.then):
        body(op.then, inside)
    if not is_optional:
        with low.inside(orelse, op.orelse):
            body(op.orelse, inside)
    low.emit(Branch([condition], loc=op.loc, then=then, orelse=orelse))
    define_results(results, low)


def _own_results(op: Control, low: Lowering) -> list[Value]:
    """The results that are set here; blocks that lanes keep are set by steps of their own."""
    return [
        value
        for value in op.results
        if value not in low.facts.aliases
        and low.facts.uses_of(value)
        and not low.is_kept_by_lanes(value)
    ]


def define_results(results: Sequence[Value], low: Lowering) -> None:
    for value in results:
        variable = low.variable_of(value)
        assert variable is not None
        low.define(value, low.read(variable))


# --- branches that only choose a value --------------------------------------------------------


def expression(op: If, low: Lowering) -> bool:
    """Prints a small `if` that only computes a value as `&&`, `||` or `? :`."""
    results = _own_results(op, low)
    if len(results) != 1 or any(low.is_kept_by_lanes(value) for value in op.results):
        return False
    ends = [r.terminator for r in (op.then, op.orelse) if isinstance(r.terminator, Yield)]
    guarded = _values_from_memory(op, low)
    if len(ends) < 2 or guarded is None:
        return False
    for region in (op.then, op.orelse):
        low.regions[id(region)] = low.block
    place = op.results.index(results[0])
    operands = [low.at(op.condition), *(low.at(end.values[place]) for end in ends)]
    _define_choice(results[0], operands, [low.at(value) for value in guarded], op.loc, low)
    return True


def _define_choice(
    result: Value, operands: list[Node], guarded: list[Node], loc: Loc, low: Lowering
) -> None:
    """Binds a result; what reads memory stays under its condition."""
    reads: frozenset[object] = frozenset()
    for node in guarded:
        node.guarded = True
        reads |= node.reads
    node = low.node(
        result.ty.dtype,
        lambda t: _choice(t[0], t[1], t[2]),
        operands,
        low.block,
        loc=loc,
        reads=reads,
    )
    if result.ty.dtype.is_bool and _is_false(operands[2]):
        node.conjuncts = (operands[0], operands[1])
    low.define(result, node)


def _values_from_memory(op: If, low: Lowering) -> list[Value] | None:
    """What reads memory in regions that hold a few pure ops; None if there is more in them."""
    work = [inner for region in (op.then, op.orelse) for inner in region.ops[:-1]]
    work = [inner for inner in work if not isinstance(inner, Constant)]
    found: list[Value] = []
    if len(work) > MAX_EXPRESSION:
        return None
    for inner in work:
        if not isinstance(inner, Compute | Load) or is_collective(inner):
            return None
        if isinstance(inner, Load) or any(value in found for value in inner.operands):
            found.append(inner.result)
            if len(low.facts.uses_of(inner.result)) != 1:
                return None
    return found


def _choice(condition: Text, then: Text, orelse: Text) -> Text:
    if orelse.text == "false":
        return infix("&&", condition, then, Level.LOGICAL_AND, associative=True)
    if then.text == "true":
        return infix("||", condition, orelse, Level.LOGICAL_OR, associative=True)
    return ternary(condition, then, orelse)


def _is_false(node: Node) -> bool:
    return node.plain and not node.reads and node.spell([]).text == "false"


# --- loops ------------------------------------------------------------------------------------


def count_loop(op: For, ways: Ways, body: Body, low: Lowering) -> None:
    carried = carried_by(op)
    inside = begin_loop(op, carried, low)
    counter = Variable(op.body.args[0].hint or "i", op.start.ty.dtype)
    block = Block(low.block, is_loop=True)
    loop = _count_exactly(op, counter, block, low)
    with low.inside(block, op.body):
        low.define(op.body.args[0], _counter_node(op, counter, loop, low))
        _define_carried(carried, low)
        body(op.body, inside)
    low.emit(loop)
    end_loop(op, inside, ways, body, low)


def _count_exactly(op: For, counter: Variable, block: Block, low: Lowering) -> Loop:
    """The head of a loop that counts as `range` does, whatever the numbers are."""
    dtype = op.start.ty.dtype
    start, stop, step = (low.at(value) for value in (op.start, op.stop, op.step))
    step_low, step_high = low.numbers.bounds_of(op.step)
    wide = I64 if dtype.bits >= 32 else I32
    is_one_way = step_low > 0 or step_high < 0
    if not is_one_way or (_may_count_past(op, low) and dtype.bits == 64):
        return _count_trips(op, counter, [start, stop, step], block, low)
    if _may_count_past(op, low):
        counter.dtype = wide

    def head(texts: Sequence[Text]) -> str:
        first, last, by = texts
        name, compare = counter.name, "<" if step_low > 0 else ">"
        bound = infix(compare, Text(name), last, Level.RELATIONAL).text
        kind = type_name(counter.dtype)
        return f"for ({kind} {name} = {first.text}; {bound}; {_advance(name, by)})"

    return Loop([start, stop, step], loc=op.loc, spell=head, body=block, counters=[counter])


def _may_count_past(op: For, low: Lowering) -> bool:
    """Whether the counter could overflow on its way past the last number."""
    dtype = op.start.ty.dtype
    step_low, step_high = low.numbers.bounds_of(op.step)
    stop_low, stop_high = low.numbers.bounds_of(op.stop)
    if step_low > 0:
        return step_high > 1 and stop_high - 1 + step_high > dtype.max
    return step_low < -1 and stop_low + 1 + step_low < dtype.min


def _advance(name: str, by: Text) -> str:
    if by.text.rstrip("uUL") in ("1", "-1") or by.bare == "1":
        return f"--{name}" if by.text.startswith("-") else f"++{name}"
    if by.text.startswith("-") and by.level is Level.UNARY:
        return f"{name} -= {by.text[1:]}"
    return f"{name} += {by.promoted.text}"


def _count_trips(
    op: For, counter: Variable, bounds: list[Node], block: Block, low: Lowering
) -> Loop:
    """A loop over the number of trips, for steps of an unknown direction."""
    dtype = op.start.ty.dtype
    counter.dtype = U64 if dtype.bits == 64 else U32
    counter.hint = "trip"
    low.helpers.need("trip_count", dtype)
    trips = low.call("trip_count", counter.dtype, *bounds)
    trips.hint, trips.is_named, trips.loc = "trips", True, op.loc

    def head(texts: Sequence[Text]) -> str:
        name, bound = counter.name, texts[0].at(Level.SHIFT)
        return f"for ({type_name(counter.dtype)} {name} = 0; {name} < {bound}; ++{name})"

    return Loop([trips], loc=op.loc, spell=head, body=block, counters=[counter])


def _counter_node(op: For, counter: Variable, loop: Loop, low: Lowering) -> Node:
    """The number that a loop has come to, from its counter or from its trips."""
    dtype, own = op.start.ty.dtype, low.read(counter)
    if counter.dtype == dtype:
        return own
    if len(loop.operands) == 3:
        node = low.node(dtype, lambda t: call(type_name(dtype), t[0]), [own], loc=op.loc)
        node.is_light = True
        return node

    def spell(texts: Sequence[Text]) -> Text:
        first, by, trip = texts
        if dtype.bits < 32 or dtype.is_unsigned:
            moved = infix("*", trip, by.promoted, Level.PRODUCT)
            number = infix("+", first.promoted, moved, Level.SUM)
            return call(type_name(dtype), number) if dtype.bits < 32 else number
        u = unsigned(dtype)
        moved = infix("*", trip, call(u, by), Level.PRODUCT)
        return call(type_name(dtype), infix("+", call(u, first), moved, Level.SUM))

    operands = [low.at(op.start), low.at(op.step), own]
    return low.node(dtype, spell, operands, hint=op.body.args[0].hint, loc=op.loc)


def test_loop(op: While, ways: Ways, body: Body, low: Lowering) -> None:
    carried = carried_by(op)
    inside = begin_loop(op, carried, low)
    block = Block(low.block, is_loop=True)
    test = op.test.terminator
    assert isinstance(test, Condition)
    with low.inside(block, op.test):
        low.regions[id(op.body)] = block
        _define_carried(carried, low)
        body(op.test, Ways())
        leaving = Block(block)
        if _leaves_inside(op, low):
            with low.inside(leaving, op.orelse):
                _define_carried([argument for argument, _ in left_with(op)], low)
                body(op.orelse, Ways(op.results, ways.broken, ways.continued, ways.left))
        low.emit(Test([low.at(test.condition)], loc=op.loc, leaving=leaving))
        body(op.body, inside)
    low.emit(Loop([], loc=op.loc, spell=lambda _: "while (true)", body=block))
    end_loop(op, inside, ways, body, low)


def _leaves_inside(op: While, low: Lowering) -> bool:
    """Whether the `orelse` stands where the test fails: it does not run after a `Break`."""
    test = op.test.terminator
    assert isinstance(test, Condition)
    computed = any(v not in op.test.args and low.facts.is_inside(v, op) for v in test.values)
    return computed or (bool(breaks_of(op)) and not _is_settled(op, low))


def begin_loop(op: For | While, carried: Values, low: Lowering) -> Ways:
    """Declares the variables of a loop; gives what its terminators set."""
    for value, init in zip(carried, op.inits, strict=True):
        if low.facts.is_needed(value) and not low.is_kept_by_lanes(value):
            _begin_variable(value, low.at(init), op.loc, low)
    left = None
    if breaks_of(op):
        left = _begin_results(op, carried, low)
    return Ways(carried, op.results, carried, left)


def _begin_variable(value: Value, first: Node | None, loc: Loc, low: Lowering) -> None:
    variable = low.variable_of(value)
    assert variable is not None
    if variable not in low.declared:
        low.declare_once(variable, first, loc, is_ahead=True)
    elif first is not None:
        low.assign([(variable, first)], loc)


def _begin_results(op: For | While, carried: Values, low: Lowering) -> Variable | None:
    """Gives results the values that they have if the loop is not left; or a flag that it was."""
    is_settled = _is_settled(op, low)
    own = {low.storage.numbers[value] for value in carried if value in low.storage.numbers}
    end = op.orelse.terminator
    for place, result in enumerate(op.results):
        if result not in _own_results(op, low) or low.storage.numbers[result] in own:
            continue
        first = low.at(end.values[place]) if is_settled and isinstance(end, Yield) else None
        _begin_variable(result, first, op.loc, low)
    if is_settled or isinstance(op, While):
        return None
    left = Variable("left_early", BOOL)
    low.declare_once(left, low.literal(False, BOOL), op.loc)
    return left


def _is_settled(op: For | While, low: Lowering) -> bool:
    """Whether an exhausted loop gives results that are known before, or that it carries."""
    end = op.orelse.terminator
    if not is_trivial(op.orelse) or not isinstance(end, Yield):
        return False
    for result, value in zip(op.results, end.values, strict=True):
        value = low.facts.resolve(value)
        number = low.storage.numbers.get(result)
        is_carried = number is not None and low.storage.numbers.get(value) == number
        is_inside = low.facts.is_inside(value, op)
        if is_inside and not is_carried and low.facts.uses_of(result):
            return False
    return True


def _define_carried(carried: Sequence[Value], low: Lowering) -> None:
    for value in carried:
        if low.facts.is_needed(value) and not low.is_kept_by_lanes(value):
            variable = low.variable_of(value)
            assert variable is not None
            low.define(value, low.read(variable))


def end_loop(op: For | While, inside: Ways, ways: Ways, body: Body, low: Lowering) -> None:
    """What follows a loop: its `orelse`, unless the loop was left."""
    _define_carried([argument for argument, _ in left_with(op)], low)
    passing = Ways(op.results, ways.broken, ways.continued, ways.left)
    if inside.left is not None:
        stays = low.node(BOOL, lambda t: negated(t[0]), [low.read(inside.left)])
        with low.branch(stays, op.loc):
            low.regions[id(op.orelse)] = low.block
            body(op.orelse, passing)
    elif isinstance(op, While) and _leaves_inside(op, low):
        pass
    elif not breaks_of(op):
        low.regions[id(op.orelse)] = low.block
        body(op.orelse, Ways(op.results, ways.broken, ways.continued, ways.left, is_direct=True))
        return
    define_results(_own_results(op, low), low)


# --- the ends of regions ----------------------------------------------------------------------


def end(op: Terminator, ways: Ways, low: Lowering) -> None:
    """Passes values on, and leaves."""
    if _is_left(low.block):
        return
    match op:
        case Yield():
            _pass_on(ways.yielded, op.values, ways.is_direct, op.loc, low)
        case Break():
            _pass_on(ways.broken, op.values, False, op.loc, low)
            if ways.left is not None:
                low.assign([(ways.left, low.literal(True, BOOL))], op.loc)
            low.act("break", loc=op.loc)
        case Continue():
            _pass_on(ways.continued, op.values, False, op.loc, low)
            low.act("continue", loc=op.loc)
        case _:
            pass


def _pass_on(targets: Values, values: Values, is_direct: bool, loc: Loc, low: Lowering) -> None:
    if not targets:
        return
    pairs: list[tuple[Variable, Node]] = []
    for target, value in zip(targets, values, strict=True):
        if target in low.facts.aliases or not low.facts.is_needed(target):
            continue
        if low.is_kept_by_lanes(target):
            continue
        if is_direct:
            low.define(target, low.at(value))
            continue
        variable = low.variable_of(target)
        assert variable is not None
        pairs.append((variable, low.at(value)))
    low.assign(pairs, loc)


def _is_left(block: Block) -> bool:
    """Whether the end of a block is never reached."""
    last = block.statements[-1] if block.statements else None
    if isinstance(last, Branch):
        return _is_left(last.then) and _is_left(last.orelse)
    return isinstance(last, Act) and last.is_jump
