"""What all control flow shares: where values go at the end of a region, and their variables.

Control flow of lanes and of all threads together is printed alike; what differs is what stands in
the regions: the ops of a lane, or the steps of a plan. Blocks that lanes keep across steps are
assigned by steps of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from eas.ir.nodes import Break, Continue, Region, Terminator, Value, Yield
from eas.ir.types import BOOL
from eas.msl.analysis.facts import Control
from eas.msl.cxx.tree import Act, Block, Branch, Node, Variable
from eas.msl.lower.lowering import Lowering
from eas.support.location import Loc
from eas.support.records import frozen

Body = Callable[[Region, "Ways"], None]
Jump = Literal["break", "continue"]
Values = tuple[Value, ...]


@frozen
class Ways:
    """What the values of each kind of terminator become; `left` notes a `Break`.

    If it `is_direct`, only one `Yield` leads here, and results need no variables. `detour` is set
    in an `orelse` that is printed inside of its loop: a jump notes itself there and leaves that
    loop, behind which it goes on.
    """

    yielded: Values = ()
    broken: Values = ()
    continued: Values = ()
    left: Variable | None = None
    is_direct: bool = False
    detour: Mapping[Jump, Variable] | None = None


def own_results(op: Control, low: Lowering) -> list[Value]:
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


def begin_variable(value: Value, first: Node | None, loc: Loc, low: Lowering) -> None:
    variable = low.variable_of(value)
    assert variable is not None
    if variable not in low.declared:
        low.declare_once(variable, first, loc, is_ahead=True)
    elif first is not None:
        low.assign([(variable, first)], loc)


def end(op: Terminator, ways: Ways, low: Lowering) -> None:
    """Passes values on, and leaves."""
    if is_left(low.block):
        return
    match op:
        case Yield():
            _pass_on(ways.yielded, op.values, ways.is_direct, op.loc, low)
        case Break():
            _pass_on(ways.broken, op.values, False, op.loc, low)
            if ways.left is not None:
                low.assign([(ways.left, low.literal(True, BOOL))], op.loc)
            take_jump("break", ways, op.loc, low)
        case Continue():
            _pass_on(ways.continued, op.values, False, op.loc, low)
            take_jump("continue", ways, op.loc, low)
        case _:
            pass


def take_jump(jump: Jump, ways: Ways, loc: Loc | None, low: Lowering) -> None:
    if ways.detour is not None:
        low.assign([(ways.detour[jump], low.literal(True, BOOL))], loc)
        jump = "break"
    low.act(jump, loc=loc)


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


def is_left(block: Block) -> bool:
    """Whether the end of a block is never reached."""
    last = block.statements[-1] if block.statements else None
    if isinstance(last, Branch):
        return is_left(last.then) and is_left(last.orelse)
    return isinstance(last, Act) and last.is_jump
