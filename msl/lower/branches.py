"""`if`: as a statement, or as an expression where it only chooses a value."""

from __future__ import annotations

from eas.ir.nodes import Compute, Constant, If, Load, Value, Yield
from eas.msl.analysis.facts import is_collective, is_trivial
from eas.msl.cxx.tree import Block, Branch, Node, Variable
from eas.msl.lower.control import Body, ExitTargets, begin_variable, define_results, own_results
from eas.msl.lower.lowering import Lowering
from eas.msl.ops.text import Level, Text, infix, ternary
from eas.support.location import Loc
from eas.support.records import replace

MAX_EXPRESSION = 6


def lower_if(op: If, targets: ExitTargets, body: Body, low: Lowering) -> None:
    if not expression(op, low):
        lower_branch(op, targets, body, low)


def lower_branch(op: If, targets: ExitTargets, body: Body, low: Lowering) -> None:
    """Prints an `if` as a statement."""
    condition = low.at(op.condition)
    results = own_results(op, low)
    then, orelse = Block(low.block), Block(low.block)
    is_optional = is_trivial(op.orelse) and isinstance(op.orelse.terminator, Yield)
    if is_optional and not any(low.is_lane_variable(value) for value in op.results):
        late = _begin_with_else(op, results, low)
        with low.region(orelse, op.orelse):
            low.assign(late, op.orelse.terminator.loc)
    else:
        is_optional = False
        for result in results:
            begin_variable(result, None, op.loc, low)
    inside = replace(targets, yielded=op.results, is_direct=False)
    with low.region(then, op.then):
        body(op.then, inside)
    if not is_optional:
        with low.region(orelse, op.orelse):
            body(op.orelse, inside)
    low.emit(Branch([condition], loc=op.loc, then=then, orelse=orelse))
    define_results(results, low)


def _begin_with_else(op: If, results: list[Value], low: Lowering) -> list[tuple[Variable, Node]]:
    """Initializes new variables with what an empty `else` yields; returns other assignments."""
    end = op.orelse.terminator
    late: list[tuple[Variable, Node]] = []
    for result in results:
        variable = low.variable_of(result)
        assert variable is not None and isinstance(end, Yield)
        node = low.at(end.values[op.results.index(result)])
        if variable in low.declared:
            late.append((variable, node))
        else:
            low.declare_once(variable, node, op.loc, is_ahead=True)
    return late


def expression(op: If, low: Lowering) -> bool:
    """Prints a small `if` that only computes a value as `&&`, `||` or `? :`."""
    results = own_results(op, low)
    if len(results) != 1 or any(low.is_lane_variable(value) for value in op.results):
        return False
    ends = [r.terminator for r in (op.then, op.orelse) if isinstance(r.terminator, Yield)]
    guarded = _values_from_memory(op, low)
    if len(ends) < 2 or guarded is None:
        return False
    for region in (op.then, op.orelse):
        low.regions[region.number] = low.block
    place = op.results.index(results[0])
    operands = [low.at(op.condition), *(low.at(end.values[place]) for end in ends)]
    _define_choice(results[0], operands, [low.at(value) for value in guarded], op.loc, low)
    return True


def _define_choice(
    result: Value, operands: list[Node], guarded: list[Node], loc: Loc, low: Lowering
) -> None:
    """Binds a result; loads stay under their condition."""
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
    """The loaded values of regions with a few pure ops; None if there is more in them."""
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
