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
from eas.ir.types import BOOL, I32, U32, DType
from eas.msl.dtypes import type_name
from eas.msl.facts import Control, breaks_of, is_trivial
from eas.msl.lowering import Lowering
from eas.msl.text import Level, Text, call, infix, ternary
from eas.msl.tree import Block, Branch, LoadNode, Loop, Node, Test, Variable

Body = Callable[[Region, "Ways"], None]
Values = tuple[Value, ...]
MAX_EXPRESSION = 6


@dataclass(frozen=True, slots=True)
class Ways:
    """What the values of each kind of terminator become, here; `left` notes a `Break`."""

    yielded: Values = ()
    broken: Values = ()
    continued: Values = ()
    left: Variable | None = None


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
    for result in results:
        _declare_result(op, result, is_optional, low)
    inside = Ways(op.results, ways.broken, ways.continued, ways.left)
    then, orelse = Block(low.block), Block(low.block)
    with low.inside(then, op.then):
        body(op.then, inside)
    if not is_optional:
        with low.inside(orelse, op.orelse):
            body(op.orelse, inside)
    low.emit(Branch([condition], loc=op.loc, then=then, orelse=orelse))
    define_results(results, low)


def _declare_result(op: If, result: Value, is_optional: bool, low: Lowering) -> None:
    """Declares the variable of a result; what an empty `else` yields is its first value."""
    variable = low.variable_of(result)
    assert variable is not None
    first = None
    if is_optional and isinstance(op.orelse.terminator, Yield):
        first = low.at(op.orelse.terminator.values[op.results.index(result)])
    if variable not in low.declared:
        low.declare_once(variable, first, op.loc)
    elif first is not None:
        low.assign([(variable, first)], op.loc)


def _own_results(op: Control, low: Lowering) -> list[Value]:
    """The results that are set here; blocks that lanes keep are set by steps of their own."""
    return [
        value
        for value in op.results
        if value not in low.facts.aliases and low.facts.uses_of(value) and not low.is_kept_by_lanes(value)
    ]


def define_results(results: Sequence[Value], low: Lowering) -> None:
    for value in results:
        variable = low.variable_of(value)
        assert variable is not None
        low.define(value, low.read(variable))


def expression(op: If, low: Lowering) -> bool:
    """Prints a small `if` that only computes a value as `&&`, `||` or `? :`."""
    results = _own_results(op, low)
    if len(results) != 1 or any(low.is_kept_by_lanes(v) for v in op.results):
        return False
    ends = [region.terminator for region in (op.then, op.orelse)]
    if not all(isinstance(end, Yield) for end in ends) or not _is_expression(op, low):
        return False
    place = op.results.index(results[0])
    for region in (op.then, op.orelse):
        low.regions[id(region)] = low.block
    condition = low.at(op.condition)
    then, orelse = (low.at(end.values[place]) for end in ends if isinstance(end, Yield))
    for node in (then, orelse):
        _keep_inside(node, low.block)
    node = low.node(
        results[0].ty.dtype,
        lambda t: _conditional(t[0], t[1], t[2]),
        [condition, then, orelse],
        low.block,
        hint=results[0].hint,
        loc=op.loc,
    )
    if results[0].ty.dtype.is_bool and _is_literal(orelse, "false"):
        node.conjuncts = (condition, then)
    low.define(results[0], node)
    return True


def _is_expression(op: If, low: Lowering) -> bool:
    """Whether regions hold a few pure ops; what reads memory is used once, inside."""
    ops = [inner for region in (op.then, op.orelse) for inner in region.ops[:-1]]
    work = [inner for inner in ops if not isinstance(inner, Constant)]
    if len(work) > MAX_EXPRESSION:
        return False
    guarded: set[Value] = set()
    for inner in work:
        if not isinstance(inner, Compute | Load):
            return False
        reads = isinstance(inner, Load) or any(v in guarded for v in inner.operands)
        if reads:
            guarded.add(inner.result)
            if len(low.facts.uses_of(inner.result)) != 1:
                return False
    return True


def _keep_inside(node: Node, home: Block) -> None:
    """Keeps what reads memory under its condition."""
    if node.home is home and _reads_memory(node, home):
        node.guarded = True
        for operand in node.operands:
            _keep_inside(operand, home)


def _reads_memory(node: Node, home: Block) -> bool:
    if node.home is not home or node.plain:
        return False
    return isinstance(node, LoadNode) or any(_reads_memory(o, home) for o in node.operands)


def _conditional(condition: Text, then: Text, orelse: Text) -> Text:
    if orelse.text == "false":
        return infix("&&", condition, then, Level.LOGICAL_AND, associative=True)
    if then.text == "true":
        return infix("||", condition, orelse, Level.LOGICAL_OR, associative=True)
    return ternary(condition, then, orelse)


def _is_literal(node: Node, text: str) -> bool:
    return node.plain and not node.reads and node.spell([]).text == text
