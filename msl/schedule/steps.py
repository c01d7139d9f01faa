"""The steps of a plan: what the threads of a program do, in order, as data."""

from __future__ import annotations

from eas.ir.aliasing.conflicts import Access
from eas.ir.aliasing.lane_domains import Domain
from eas.ir.nodes import (
    Alloc,
    Assert,
    Atomic,
    Combine,
    Compute,
    Op,
    Print,
    Store,
    TargetOp,
    Terminator,
    Value,
)
from eas.ir.ops.simdgroup import SIMD
from eas.ir.types import count
from eas.msl.analysis.facts import Control
from eas.msl.layout.layout import axis_of
from eas.msl.ops.all_reduce import is_all_reduce
from eas.support.location import Loc
from eas.support.records import field, frozen, record


@frozen
class Assign:
    """Assigns loop-carried values and results of lanes, all at once."""

    pairs: tuple[tuple[Value, Value], ...]
    loc: Loc


@frozen
class Stage:
    """The lanes of a domain write their elements of a block to threadgroup memory."""

    value: Value
    domain: Domain


@frozen
class GatherPartials:
    """The owners of the results of a reduction along the last axis reduce their partials."""

    op: Compute


@frozen
class FinishScan:
    """The lanes of a scan add the carry of the simdgroups before them."""

    op: Combine


@frozen
class StoreTile:
    """A matrix is written to its tile in threadgroup memory."""

    op: TargetOp


Item = Op | Assign | Stage | GatherPartials | FinishScan | StoreTile


@record(eq=False, slots=True)
class Elements:
    """A loop over the elements of a domain. `touched` are its accesses to arrays of the kernel."""

    extent: int
    items: list[Item] = field(default_factory=list[Item])
    touched: list[Access] = field(default_factory=list[Access])


@frozen
class Uniform:
    """Every thread computes the same value."""

    op: Op


@frozen
class SingleThread:
    """One thread has an effect for all."""

    op: Store | Atomic | Assert | Print


@frozen
class BroadcastResult:
    """Every thread reads the result of an atomic that one thread did for all."""

    op: Atomic


@frozen
class StorePartials:
    """The simdgroups store their partials of some reductions to threadgroup memory.

    If the partials are double buffered, `stage` is the number of the stage counter, else 0.
    """

    ops: tuple[Compute, ...]
    stage: int = 0


@frozen
class ReducePartials:
    """Every thread reduces the partials of all simdgroups; then double buffers are swapped."""

    ops: tuple[Compute, ...]
    stage: int = 0


@frozen
class ReduceChunks:
    """A reduction along an axis, a chunk at a time through threadgroup memory."""

    op: Compute


@frozen
class CombineLanes:
    """The lanes of each simdgroup reduce their values by a function of the user's."""

    op: Combine


@frozen
class CombinePartials:
    """Every thread reduces the partials of such a reduction."""

    op: Combine


@frozen
class ScanPartials:
    """One simdgroup scans the partials of all of them."""

    op: Combine


@frozen
class ScanRows:
    """The owner of each row scans it in threadgroup memory."""

    op: Combine


@frozen
class Mma:
    """The simdgroups initialize an accumulator, add a product to it, or store it to memory.

    Or all threads count the trips that have filled double-buffered tiles.
    """

    op: TargetOp


@frozen
class UniformControl:
    """Control flow of all threads together, with the steps of each region."""

    op: Control
    plans: tuple[tuple[Step, ...], ...]


@frozen
class RegionEnd:
    """The end of a region; blocks are assigned before it."""

    op: Terminator


@frozen
class Sync:
    """A barrier, with the memory that it orders; `loc` is set for a barrier of the user's."""

    device: bool
    threadgroup: bool
    loc: Loc | None = None


CombineStep = CombineLanes | CombinePartials | ScanPartials | ScanRows
LeafStep = (
    Uniform
    | SingleThread
    | BroadcastResult
    | StorePartials
    | ReducePartials
    | ReduceChunks
    | CombineStep
    | Mma
)
Step = Elements | LeafStep | UniformControl | RegionEnd | Sync


@frozen
class Plan:
    """The steps of a function. `live_out` values are used after the loop that computes them."""

    steps: tuple[Step, ...]
    live_out: frozenset[Value]
    allocations: tuple[Alloc, ...]


def staged_name(value: Value) -> str:
    """The copy of a block, or the results of a reduction along an axis."""
    return f"staged {value.id}"


def tile_name(pointer: Value) -> str:
    """A matrix in threadgroup memory."""
    return f"tile {pointer.id}"


def strip_name(value: Value) -> str:
    """Some rows of a product of matrices."""
    return f"strip {value.id}"


def crosses_simdgroups(threads: int) -> bool:
    """Whether there are several simdgroups, which exchange values through threadgroup memory."""
    return threads > SIMD


def partial_name(value: Value) -> str:
    """The partials of a reduction."""
    return f"partial {value.id}"


def partial_names(op: Compute) -> list[str]:
    """The partials of a reduction, and for `argmax` and `argmin` those of its indices."""
    name = partial_name(op.result)
    has_index = op.op.reduction in ("argmax", "argmin")
    return [name, f"{name} index"] if has_index else [name]


def chunk_name(value: Value) -> str:
    """A chunk of a reduction: an element per thread."""
    return f"chunk {value.id}"


def received_name(value: Value) -> str:
    """The result of an atomic of one thread."""
    return f"received {value.id}"


def partials_of_scan(op: Combine) -> int:
    """The number of partials of a scan: one for every 32 elements."""
    return -(-count(op.operands[0].shape) // SIMD)


def fits_simdgroup(op: Combine) -> bool:
    """Whether no row of a scan crosses the border of a simdgroup."""
    return SIMD % op.operands[0].shape[-1] == 0 or partials_of_scan(op) == 1


def needs_partial_scan(op: Combine) -> bool:
    """Whether a scan has more partials than the lanes of some simdgroup can scan."""
    partials, in_last = partials_of_scan(op), count(op.operands[0].shape) % SIMD or SIMD
    return not fits_simdgroup(op) and (partials > SIMD or partials - 1 > in_last)


def partials_per_row(op: Compute) -> int:
    """The number of partials of each row in a reduction along the last axis."""
    return -(-axis_of(op).extent // SIMD)


def stays_in_simdgroups(op: Compute) -> bool:
    """Whether a reduction for all lanes of a row is done when their simdgroup has done it."""
    return is_all_reduce(op) and partials_per_row(op) == 1
