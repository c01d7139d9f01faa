"""The item and the step of matrix products: ops on tiles and accumulators (`eas.msl.ops.mma`)."""

from __future__ import annotations

from collections.abc import Iterator

from eas.ir.aliasing.affine_forms import plus
from eas.ir.aliasing.conflicts import Access, Parity
from eas.ir.aliasing.lane_domains import Domain
from eas.ir.nodes import TargetOp, Value
from eas.msl.analysis.facts import Facts
from eas.msl.layout.layout import Layout, Strategy
from eas.msl.ops.mma import (
    PARITY_FLIP,
    PARITY_START,
    PIPELINED,
    STORE_SLOT,
    in_place_factors,
    numbers,
    tiles_of,
)
from eas.msl.schedule.effects import Effects, reads, writes
from eas.msl.schedule.items import Item
from eas.msl.schedule.steps import Step
from eas.msl.schedule.threadgroup_arrays import Role, ThreadgroupArray, staged
from eas.msl.schedule.value_sources import Finder, Needs
from eas.support.records import frozen


@frozen
class StoreTile(Item):
    """A matrix is written to its tile in threadgroup memory."""

    op: TargetOp

    def domain(self, layout: Layout) -> Domain:
        del layout
        return Domain(self.op.operand("a").shape)

    def needs(self, finder: Finder) -> Needs:
        value, domain = self.op.operand("a"), self.domain(finder.layout)
        return finder.of(value, domain.indices_of(value.shape), domain.extent)

    def own_accesses(self, finder: Finder) -> tuple[Access, ...]:
        array = tile_of(self.op.operand("tile"))
        parity: Parity | None = (array, "current") if self.op.op is STORE_SLOT else None
        thread = (array, self.domain(finder.layout).extent)
        return (Access(array, "write", thread, parity=parity),)


@frozen(eq=False)
class Mma(Step):
    """The simdgroups initialize an accumulator, add a product to it, or store it to memory.

    Or all threads count the trips that have filled double-buffered tiles.
    """

    op: TargetOp

    def effects(self, finder: Finder) -> Effects:
        op = self.op
        if op.op in (PARITY_START, PARITY_FLIP):
            tiles = _double_buffered(op.operand("parity"), finder.layout.facts)
            is_start = op.op is PARITY_START
            return Effects(restarts=tiles) if is_start else Effects(swaps=tiles)
        if op.result is None:
            return Effects((*_tile_reads(op), *_reads_in_place(op, finder.layout.facts)))
        if finder.layout.strategies[op.result] is Strategy.STRIPS:  # a barrier ends each strip
            return Effects(writes([strip_of(op.result)]), after_barrier=())
        return Effects(writes([staged(op.result)]))


def tile_of(pointer: Value) -> ThreadgroupArray:
    return ThreadgroupArray(Role.TILE, pointer)


def strip_of(value: Value) -> ThreadgroupArray:
    return ThreadgroupArray(Role.STRIP, value)


def _tile_reads(op: TargetOp) -> tuple[Access, ...]:
    """The reads of a product; the trip before has filled the double buffers of a pipelined one."""
    arrays = list(map(tile_of, tiles_of(op)))
    if op.op is not PIPELINED:
        return reads(arrays)
    return tuple(
        Access(array, "read", parity=(array, "previous") if buffers == 2 else None)
        for array, buffers in zip(arrays, numbers(op, "buffers"), strict=True)
    )


def _reads_in_place(op: TargetOp, facts: Facts) -> Iterator[Access]:
    """The reads of factors that lie in arrays of the kernel."""
    for factor in in_place_factors(op):
        if factor is not None:
            first = facts.forms.of(factor.offset, ())
            yield Access(factor.pointer, "read", form=plus(first, factor.form, 1))


def _double_buffered(parity: Value, facts: Facts) -> frozenset[ThreadgroupArray]:
    """The tiles whose buffers a parity chooses between."""
    ops = [use.op for use in facts.uses_of(parity)]
    stores = [op for op in ops if isinstance(op, TargetOp) and op.op is STORE_SLOT]
    return frozenset(tile_of(op.operand("tile")) for op in stores)
