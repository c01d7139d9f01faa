"""Divergent regions whose lanes must execute in lockstep.

A loop over lanes finishes some lanes before it starts the next ones. That is wrong in two cases.
An effect may stand for several lanes at once: the loop would repeat it for each vector. A lane may
read or overwrite what another lane writes: the loop would change their order.

`msl/rewrites/lockstep_regions.py` does the same for Metal, and says why its rules differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from eas.ir.aliasing.conflicts import need_lockstep
from eas.ir.analysis import Divergence, divergences
from eas.ir.lowering.lockstep import Control, in_lockstep
from eas.ir.nodes import (
    Atomic,
    For,
    Function,
    If,
    Op,
    Print,
    Region,
    Store,
    While,
    regions_of,
    walk,
)
from eas.ir.types import Shape
from eas.llvm.analysis.conflicts import touches_of
from eas.llvm.analysis.facts import Facts
from eas.llvm.lanes.lane_control import domain_of
from eas.llvm.lanes.reports import printed_shape


def with_lockstep_regions(function: Function) -> Function:
    """The function with lockstep execution where a loop over lanes would change its effects."""
    divergent = list(_divergent_ops(function.body, divergences(function)))
    inside = (inner for op in divergent for region in regions_of(op) for inner in walk(region))
    if not any(isinstance(inner, Atomic | Print | Store) for inner in inside):
        return function
    facts = Facts(function)
    chosen = {op.number for op in divergent if _needs_lockstep(op, facts)}
    checked = {op.number for op in walk(function.body) if facts.is_checked_at_definition(op)}
    return in_lockstep(function, chosen, checked if function.checked else set())


def _divergent_ops(region: Region, found: Mapping[int, Divergence]) -> Iterator[Control]:
    """The outermost ops inside of which lanes diverge."""
    for op in region.ops:
        if isinstance(op, If | For | While) and found[op.number].inside:
            yield op
        else:
            for inner in regions_of(op):
                yield from _divergent_ops(inner, found)


def _needs_lockstep(op: Control, facts: Facts) -> bool:
    shape = domain_of(op, facts)
    if shape is None:
        return False
    touches = [each for each in touches_of(op, shape, facts) if each.op.pointer.id in facts.written]
    has_shared_effect = any(True for _ in _effects(op, shape, False))
    return has_shared_effect or need_lockstep(touches, facts.function, facts)


def _effects(op: Op, shape: Shape, is_repeated: bool) -> Iterator[Atomic | Print | Store]:
    """The effects that stand for several lanes. A store is one only in a loop."""
    match op:
        case Atomic() if op.offset.shape != shape:
            yield op
        case Print() if printed_shape(op) != shape:
            yield op
        case Store() if is_repeated and op.offset.shape != shape:
            yield op
        case _:
            is_repeated = is_repeated or isinstance(op, For | While)
            for region in regions_of(op):
                for inner in region.ops:
                    yield from _effects(inner, shape, is_repeated)
