"""What is done once for several lanes where lanes part: these take each step together.

A loop over lanes would do it again for the next ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from eas.ir.analysis import Divergence, divergences
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
from eas.ir.passes.lockstep import Control, in_lockstep
from eas.ir.types import Shape
from eas.runtime.cpu.facts import Facts
from eas.runtime.cpu.lanewise import domain_of
from eas.runtime.cpu.reports import printed_shape


def with_steps_together(function: Function) -> Function:
    """The function with lanes in lockstep where one of them acts for several."""
    parting = list(_parting(function.body, divergences(function)))
    inside = (inner for op in parting for region in regions_of(op) for inner in walk(region))
    if not any(isinstance(inner, Atomic | Print | Store) for inner in inside):
        return function
    facts = Facts(function)
    return in_lockstep(function, {id(op) for op in parting if _acts_for_several(op, facts)})


def _parting(region: Region, found: Mapping[int, Divergence]) -> Iterator[Control]:
    """The outermost ops in which lanes part."""
    for op in region.ops:
        if isinstance(op, If | For | While) and found[id(op)].inside:
            yield op
        else:
            for inner in regions_of(op):
                yield from _parting(inner, found)


def _acts_for_several(op: Control, facts: Facts) -> bool:
    shape = domain_of(op, facts)
    return shape is not None and any(True for _ in _effects(op, shape, False))


def _effects(op: Op, shape: Shape, is_repeated: bool) -> Iterator[Atomic | Print | Store]:
    """The effects that are not each lane's own; of a store, the last one in a loop stays."""
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
