"""The ends of regions, and the variables of results: common to all control flow.

Control flow of lanes and uniform control flow are lowered alike, but for the contents of regions:
the ops of a lane, or the steps of a plan. Blocks in variables of lanes are assigned by steps of
their own.
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

Body = Callable[[Region, "ExitTargets"], None]
Jump = Literal["break", "continue"]
Values = tuple[Value, ...]


@frozen
class ExitTargets:
    """What the values of each kind of terminator become; `left` is set by a `Break`.

    If it `is_direct`, only one `Yield` leads here, and results need no variables. An `orelse` that
    is printed inside of its loop has `jump_flags`: a jump sets its flag and breaks out of the loop,
    and the jump itself is taken behind the loop.
    """

    yielded: Values = ()
    broken: Values = ()
    continued: Values = ()
    left: Variable | None = None
    is_direct: bool = False
    jump_flags: Mapping[Jump, Variable] | None = None


def own_results(op: Control, low: Lowering) -> list[Value]:
    """The results that are assigned here; other steps assign blocks in variables of lanes."""
    return [
        value
        for value in op.results
        if value not in low.facts.aliases
        and low.facts.uses_of(value)
        and not low.is_lane_variable(value)
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


def end(op: Terminator, targets: ExitTargets, low: Lowering) -> None:
    """Assigns the values of a terminator to its targets, and jumps."""
    if is_left(low.block):
        return
    match op:
        case Yield():
            _pass_on(targets.yielded, op.values, targets.is_direct, op.loc, low)
        case Break():
            _pass_on(targets.broken, op.values, False, op.loc, low)
            if targets.left is not None:
                low.assign([(targets.left, low.literal(True, BOOL))], op.loc)
            take_jump("break", targets, op.loc, low)
        case Continue():
            _pass_on(targets.continued, op.values, False, op.loc, low)
            take_jump("continue", targets, op.loc, low)
        case _:
            pass


def take_jump(jump: Jump, targets: ExitTargets, loc: Loc | None, low: Lowering) -> None:
    if targets.jump_flags is not None:
        low.assign([(targets.jump_flags[jump], low.literal(True, BOOL))], loc)
        jump = "break"
    low.act(jump, loc=loc)


def _pass_on(targets: Values, values: Values, is_direct: bool, loc: Loc, low: Lowering) -> None:
    if not targets:
        return
    pairs: list[tuple[Variable, Node]] = []
    for target, value in zip(targets, values, strict=True):
        if target in low.facts.aliases or not low.facts.is_needed(target):
            continue
        if low.is_lane_variable(target):
            continue
        if is_direct:
            low.define(target, low.at(value))
            continue
        variable = low.variable_of(target)
        assert variable is not None
        pairs.append((variable, low.at(value)))
    low.assign(pairs, loc)


def is_left(block: Block) -> bool:
    """Whether the end of a block is unreachable."""
    last = block.statements[-1] if block.statements else None
    if isinstance(last, Branch):
        return is_left(last.then) and is_left(last.orelse)
    return isinstance(last, Act) and last.is_jump
