"""The items of a loop over elements: the work of each lane, with what it needs and accesses."""

from __future__ import annotations

from collections.abc import Iterable

from eas.ir.aliasing.conflicts import Access
from eas.ir.aliasing.lane_domains import Domain, owner_indices
from eas.ir.aliasing.lane_indices import Indices, of, operand_indices
from eas.ir.nodes import (
    Assert,
    Atomic,
    Combine,
    Compute,
    Load,
    Op,
    Print,
    Store,
    Value,
    operands_of,
    results_of,
)
from eas.ir.ops.simdgroup import SIMD
from eas.ir.types import Pointer, Shape, count
from eas.msl.analysis.facts import Control
from eas.msl.layout.lane_control import accesses_inside
from eas.msl.layout.layout import (
    Layout,
    axis_of,
    combined_indices,
    combined_symbol,
    dot_indices,
    serial_indices,
)
from eas.msl.ops.all_reduce import is_all_reduce
from eas.msl.schedule.effects import reads, writes
from eas.msl.schedule.threadgroup_arrays import partials, partials_of, staged
from eas.msl.schedule.value_sources import Finder, Needs
from eas.support.location import Loc
from eas.support.records import frozen


class Item:
    """The work of each lane of a domain.

    `results` are available after it: in the same loop, or only after the steps that follow the loop
    if it `is_incomplete`.
    """

    __slots__ = ()

    def domain(self, layout: Layout) -> Domain:
        raise NotImplementedError

    def needs(self, finder: Finder) -> Needs:
        """The values that its lanes need."""
        del finder
        return Needs()

    def own_accesses(self, finder: Finder) -> tuple[Access, ...]:
        """Its accesses to threadgroup memory, besides those to the staged values that it needs."""
        del finder
        return ()

    def kernel_accesses(self, layout: Layout) -> list[Access]:
        """Its accesses to arrays of the kernel that the kernel writes."""
        del layout
        return []

    @property
    def results(self) -> tuple[Value, ...]:
        return ()

    @property
    def is_incomplete(self) -> bool:
        return False


def accesses_of(item: Item, finder: Finder) -> tuple[Access, ...]:
    """All accesses of an item to threadgroup memory that is not the user's."""
    return (*staged_reads(item.needs(finder)), *item.own_accesses(finder))


def staged_reads(needs: Needs) -> tuple[Access, ...]:
    """The reads of staged values."""
    values = sorted((value for value in needs.shared if value.shape), key=lambda v: v.id)
    return reads(map(staged, values))


def kernel_accesses(op: Op, domain: Domain, layout: Layout) -> list[Access]:
    """The accesses of an op to arrays that the kernel writes; in a thread program none.

    A thread program has its own barriers.
    """
    if layout.has_user_barriers:
        return []
    return [touch.access for touch in accesses_inside(op, domain, layout)]


@frozen
class LaneOp(Item):
    """Each lane executes an op: an element-wise one, a load, an effect, or control flow."""

    op: Op

    def domain(self, layout: Layout) -> Domain:
        match self.op:
            case Store() | Atomic() | Assert() | Print() as op:
                return Domain(shape_of_effect(op))
            case Compute() | Load() as op:
                return Domain(op.result.shape)
            case op:
                return layout.domains[op.number]

    def needs(self, finder: Finder) -> Needs:
        domain = self.domain(finder.layout)
        if isinstance(self.op, Control):
            return finder.control(self.op, domain)
        return finder.all(_operand_elements(self.op, domain), domain.extent)

    def kernel_accesses(self, layout: Layout) -> list[Access]:
        return kernel_accesses(self.op, self.domain(layout), layout)

    @property
    def results(self) -> tuple[Value, ...]:
        return results_of(self.op)


def shape_of_effect(op: Store | Atomic | Assert | Print) -> Shape:
    if isinstance(op, Store | Atomic):
        return op.offset.shape
    shapes = [value.shape for value in operands_of(op) if value.shape]
    return max(shapes, key=count, default=())


def _operand_elements(op: Op, domain: Domain) -> Iterable[tuple[Value, Indices]]:
    """The elements of its operands that a lane needs for an op."""
    if isinstance(op, Compute) and op.op.name == "dot":
        return zip(op.operands, dot_indices(op, owner_indices(op.result.shape)), strict=True)
    if isinstance(op, Compute):
        below = operand_indices(op, domain.indices_of(op.result.shape))
        return ((value, below) for value in op.operands)
    values = [v for v in operands_of(op) if not isinstance(v.ty, Pointer)]
    return ((value, domain.indices_of(value.shape)) for value in values)


@frozen
class Assign(Item):
    """Assigns loop-carried values and results of lanes, all at once."""

    pairs: tuple[tuple[Value, Value], ...]
    loc: Loc

    def domain(self, layout: Layout) -> Domain:
        del layout
        return Domain(self.pairs[0][0].shape)

    def needs(self, finder: Finder) -> Needs:
        domain = self.domain(finder.layout)
        sources = (source for _, source in self.pairs)
        return finder.all(((v, domain.indices_of(v.shape)) for v in sources), domain.extent)


@frozen
class Stage(Item):
    """The lanes of a domain write their elements of a block to threadgroup memory."""

    value: Value
    lanes: Domain

    def domain(self, layout: Layout) -> Domain:
        del layout
        return self.lanes

    def needs(self, finder: Finder) -> Needs:
        del finder
        return Needs(owned=frozenset({self.value}))

    def own_accesses(self, finder: Finder) -> tuple[Access, ...]:
        del finder
        return (Access(staged(self.value), "write", (self.value, self.lanes.extent)),)


@frozen
class SerialReduction(Item):
    """The owner of each result loops along the reduced axis."""

    op: Compute | Combine

    def domain(self, layout: Layout) -> Domain:
        del layout
        return Domain(self.results[0].shape)

    def needs(self, finder: Finder) -> Needs:
        own = owner_indices(self.results[0].shape)
        if isinstance(self.op, Compute):
            indices = serial_indices(self.op, own)
        else:
            indices = combined_indices(own, of(combined_symbol(self.op)))
        extent = self.domain(finder.layout).extent
        return finder.all(((value, indices) for value in self.op.operands), extent)

    @property
    def results(self) -> tuple[Value, ...]:
        return results_of(self.op)


@frozen
class OperandItem(Item):
    """The lanes of the operands of a reduction or a scan work on their elements."""

    op: Compute | Combine

    def domain(self, layout: Layout) -> Domain:
        del layout
        return Domain(self.op.operands[0].shape)

    def needs(self, finder: Finder) -> Needs:
        return operand_needs(self.op, finder)

    @property
    def results(self) -> tuple[Value, ...]:
        return results_of(self.op)

    @property
    def is_incomplete(self) -> bool:
        return True


def operand_needs(op: Compute | Combine, finder: Finder) -> Needs:
    """What the lanes of the operands need to have their elements."""
    domain = Domain(op.operands[0].shape)
    wanted = ((value, domain.indices_of(value.shape)) for value in op.operands)
    return finder.all(wanted, domain.extent)


@frozen
class Accumulate(OperandItem):
    """Each thread reduces its own elements: the first part of an all-reduce of a block."""

    op: Compute


@frozen
class AccumulateByFunction(OperandItem):
    """The same for a reduction by a function of the user's."""

    op: Combine


@frozen
class StoreRowPartials(OperandItem):
    """Each simdgroup stores its partial of a reduction along the last axis."""

    op: Compute

    def own_accesses(self, finder: Finder) -> tuple[Access, ...]:
        del finder
        return writes(partials_of(self.op))


@frozen
class AllReduceRow(OperandItem):
    """The lanes of each row, all in one simdgroup, reduce it and have the result."""

    op: Compute

    @property
    def is_incomplete(self) -> bool:
        return False


@frozen
class GatherPartials(Item):
    """The owners of the results of a reduction along the last axis reduce their partials."""

    op: Compute

    def domain(self, layout: Layout) -> Domain:
        del layout
        return Domain(self.op.result.shape)

    def own_accesses(self, finder: Finder) -> tuple[Access, ...]:
        del finder
        return reads(partials_of(self.op))

    @property
    def results(self) -> tuple[Value, ...]:
        return (self.op.result,)


@frozen
class ScanLanes(OperandItem):
    """Each simdgroup scans its elements and stores its partial."""

    op: Combine

    def own_accesses(self, finder: Finder) -> tuple[Access, ...]:
        del finder
        return () if fits_simdgroup(self.op) else writes(map(partials, self.op.results))


@frozen
class FinishScan(Item):
    """The lanes of a scan add the carry of the simdgroups before them."""

    op: Combine

    def domain(self, layout: Layout) -> Domain:
        del layout
        return Domain(self.op.operands[0].shape)

    def own_accesses(self, finder: Finder) -> tuple[Access, ...]:
        del finder
        return () if fits_simdgroup(self.op) else reads(map(partials, self.op.results))

    @property
    def results(self) -> tuple[Value, ...]:
        return self.op.results


@frozen
class StageRows(OperandItem):
    """The lanes write the operands of a serial scan to where its results will be."""

    op: Combine

    def own_accesses(self, finder: Finder) -> tuple[Access, ...]:
        extent = self.domain(finder.layout).extent
        return tuple(Access(staged(v), "write", (v, extent)) for v in self.op.results)


def partials_of_scan(op: Combine) -> int:
    """The number of partials of a scan: one for every 32 elements."""
    return -(-count(op.operands[0].shape) // SIMD)


def fits_simdgroup(op: Combine) -> bool:
    """Whether no row of a scan crosses the border of a simdgroup."""
    return SIMD % op.operands[0].shape[-1] == 0 or partials_of_scan(op) == 1


def needs_partial_scan(op: Combine) -> bool:
    """Whether a scan has more partials than the lanes of some simdgroup can scan."""
    stored, in_last = partials_of_scan(op), count(op.operands[0].shape) % SIMD or SIMD
    return not fits_simdgroup(op) and (stored > SIMD or stored - 1 > in_last)


def partials_per_row(op: Compute) -> int:
    """The number of partials of each row in a reduction along the last axis."""
    return -(-axis_of(op).extent // SIMD)


def stays_in_simdgroups(op: Compute) -> bool:
    """Whether a reduction for all lanes of a row is done when their simdgroup has done it."""
    return is_all_reduce(op) and partials_per_row(op) == 1
