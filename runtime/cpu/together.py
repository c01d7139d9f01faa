"""What is done once for several lanes where lanes part: these take each step together.

A loop over lanes would do it again for the next ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from eas.ir.analysis import Divergence, divergences
from eas.ir.nodes import Atomic, For, Function, If, Op, Print, Region, Store, While, regions_of
from eas.ir.passes.lockstep import in_lockstep, split_shape
from eas.ir.types import Shape
from eas.runtime.cpu.reports import printed_shape


def with_steps_together(function: Function) -> Function:
    """The function with lanes in lockstep where one of them acts for several."""
    return in_lockstep(function, set(_chosen(function.body, divergences(function))))


def _chosen(region: Region, found: Mapping[int, Divergence]) -> Iterator[int]:
    """The outermost control ops with such an effect, by `id()`."""
    for op in region.ops:
        if isinstance(op, If | For | While) and found[id(op)].inside and _has_effects(op):
            yield id(op)
        else:
            for inner in regions_of(op):
                yield from _chosen(inner, found)


def _has_effects(op: If | For | While) -> bool:
    return any(True for _ in _effects(op, split_shape(op), False))


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
