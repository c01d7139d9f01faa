"""`for` and `while`: loops that count exactly, carry values, and have an `else`."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import Break, Condition, Continue, For, Value, While, Yield
from eas.ir.types import BOOL, I32, I64, U32, U64
from eas.msl.analysis.facts import breaks_of, carried_by, exits_of, is_trivial, left_with
from eas.msl.cxx.spelling import negated
from eas.msl.cxx.tree import Block, Loop, Node, Test, Variable
from eas.msl.lower.control import (
    Body,
    ExitTargets,
    Jump,
    Values,
    begin_variable,
    define_results,
    own_results,
    take_jump,
)
from eas.msl.lower.lowering import Lowering
from eas.msl.ops.dtypes import type_name, unsigned
from eas.msl.ops.text import Level, Text, call, infix
from eas.support.records import replace


def lower_for(op: For, targets: ExitTargets, body: Body, low: Lowering) -> None:
    carried = carried_by(op)
    inside = begin_loop(op, carried, low)
    counter = Variable(op.body.args[0].hint or "i", op.start.ty.dtype)
    block = Block(low.block, is_loop=True)
    loop = _count_exactly(op, counter, block, low)
    with low.region(block, op.body):
        low.define(op.body.args[0], _counter_node(op, counter, loop, low))
        _define_carried(carried, low)
        body(op.body, inside)
    if block.statements:
        low.emit(loop)
    end_loop(op, inside, targets, body, low)


def _count_exactly(op: For, counter: Variable, block: Block, low: Lowering) -> Loop:
    """The head of a loop that counts as `range` does, for all bounds and steps."""
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
    """Whether the counter may overflow when it passes the last number."""
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
    """A loop over the trip count, for steps of an unknown sign."""
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
    """The current number of a loop, from its counter or from its trip."""
    dtype, own = op.start.ty.dtype, low.read(counter)
    is_number = len(loop.operands) == 3  # else it is the trip
    if is_number and counter.dtype == dtype:
        return own
    if is_number:
        return low.node(dtype, lambda t: call(type_name(dtype), t[0]), [own], plain=True)

    def spell(texts: Sequence[Text]) -> Text:
        first, by, trip = texts
        if dtype.bits < 32 or dtype.is_unsigned:
            moved = infix("*", trip, by.promoted, Level.PRODUCT)
            number = infix("+", first.promoted, moved, Level.SUM)
            return call(type_name(dtype), number) if dtype.bits < 32 else number
        u = unsigned(dtype)
        moved = infix("*", trip, call(u, by), Level.PRODUCT)
        if first.text not in ("0", "0L"):
            moved = infix("+", call(u, first), moved, Level.SUM)
        return call(type_name(dtype), moved)

    operands = [low.at(op.start), low.at(op.step), own]
    return low.node(dtype, spell, operands, hint=op.body.args[0].hint, loc=op.loc)


def lower_while(op: While, targets: ExitTargets, body: Body, low: Lowering) -> None:
    carried = carried_by(op)
    inside = begin_loop(op, carried, low)
    jump_flags = _begin_jump_flags(op, low) if _leaves_inside(op, low) else {}
    block = Block(low.block, is_loop=True)
    test = op.test.terminator
    assert isinstance(test, Condition)
    with low.region(block, op.test):
        low.regions[op.body.number] = block
        _define_carried(carried, low)
        body(op.test, ExitTargets())
        leaving = Block(block)
        if _leaves_inside(op, low):
            with low.region(leaving, op.orelse):
                _define_carried([argument for argument, _ in left_with(op)], low)
                body(
                    op.orelse,
                    replace(targets, yielded=op.results, is_direct=False, jump_flags=jump_flags),
                )
        low.emit(Test([low.at(test.condition)], loc=op.loc, leaving=leaving))
        body(op.body, inside)
    low.emit(Loop([], loc=op.loc, spell=lambda _: "while (true)", body=block))
    for jump, taken in jump_flags.items():
        with low.branch(low.read(taken), op.loc):
            take_jump(jump, targets, op.loc, low)
    end_loop(op, inside, targets, body, low)


def _begin_jump_flags(op: While, low: Lowering) -> dict[Jump, Variable]:
    """Flags for the jumps out of an `orelse` that is printed inside of its loop."""
    kinds = {type(jump) for jump in exits_of(op.orelse)}
    words: list[tuple[type[Break | Continue], Jump]] = [(Break, "break"), (Continue, "continue")]
    flags: dict[Jump, Variable] = {}
    for kind, jump in words:
        if kind in kinds:
            flags[jump] = Variable(f"outer_{jump}", BOOL)
            low.declare_once(flags[jump], low.literal(False, BOOL), op.loc)
    return flags


def _leaves_inside(op: While, low: Lowering) -> bool:
    """Whether the `orelse` is printed where the test fails: it must not run after a `Break`."""
    test = op.test.terminator
    assert isinstance(test, Condition)
    computed = any(v not in op.test.args and low.facts.is_inside(v, op) for v in test.values)
    return computed or (bool(breaks_of(op)) and not _is_settled(op, low))


def begin_loop(op: For | While, carried: Values, low: Lowering) -> ExitTargets:
    """Declares the variables of a loop; returns the targets of its terminators."""
    needed = [
        (value, low.at(init))
        for value, init in zip(carried, op.inits, strict=True)
        if low.facts.is_needed(value) and not low.is_lane_variable(value)
    ]
    # New variables first: their initial value may be one that an assignment overwrites.
    for value, init in sorted(needed, key=lambda pair: low.variable_of(pair[0]) in low.declared):
        begin_variable(value, init, op.loc, low)
    left = None
    if breaks_of(op) or (isinstance(op, While) and _leaves_inside(op, low)):
        left = _begin_results(op, carried, low)
    return ExitTargets(carried, op.results, carried, left)


def _begin_results(op: For | While, carried: Values, low: Lowering) -> Variable | None:
    """Initializes results with their values for a loop without a break, or declares a flag."""
    is_settled = _is_settled(op, low)
    own = {low.storage.numbers[value] for value in carried if value in low.storage.numbers}
    end = op.orelse.terminator
    for place, result in enumerate(op.results):
        if result not in own_results(op, low) or low.storage.numbers[result] in own:
            continue
        first = low.at(end.values[place]) if is_settled and isinstance(end, Yield) else None
        begin_variable(result, first, op.loc, low)
    if is_settled or isinstance(op, While):
        return None
    left = Variable("left_early", BOOL)
    low.declare_once(left, low.literal(False, BOOL), op.loc)
    return left


def _is_settled(op: For | While, low: Lowering) -> bool:
    """Whether the results of an exhausted loop are carried values, or known before it.

    Blocks of lanes are not known before: steps of the `orelse` assign them.
    """
    end = op.orelse.terminator
    if not is_trivial(op.orelse) or not isinstance(end, Yield):
        return False
    for result, given in zip(op.results, end.values, strict=True):
        value = low.facts.resolve(given)
        number = low.storage.numbers.get(result)
        is_carried = number is not None and low.storage.numbers.get(value) == number
        is_late = low.facts.is_inside(value, op) or low.is_lane_variable(result)
        if is_late and not is_carried and low.facts.uses_of(result):
            return False
    return True


def _define_carried(carried: Sequence[Value], low: Lowering) -> None:
    for value in carried:
        if low.facts.is_needed(value) and not low.is_lane_variable(value):
            variable = low.variable_of(value)
            assert variable is not None
            low.define(value, low.read(variable))


def end_loop(
    op: For | While, inside: ExitTargets, targets: ExitTargets, body: Body, low: Lowering
) -> None:
    """What follows a loop: its `orelse`, unless a `Break` left the loop."""
    _define_carried([argument for argument, _ in left_with(op)], low)
    passing = replace(targets, yielded=op.results, is_direct=False)
    if inside.left is not None:
        stays = low.node(BOOL, lambda t: negated(t[0]), [low.read(inside.left)])
        with low.branch(stays, op.loc):
            low.regions[op.orelse.number] = low.block
            body(op.orelse, passing)
    elif isinstance(op, While) and _leaves_inside(op, low):
        pass
    elif not breaks_of(op):
        low.regions[op.orelse.number] = low.block
        body(op.orelse, replace(passing, is_direct=True))
        return
    define_results(own_results(op, low), low)
