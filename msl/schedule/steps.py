"""The steps of a plan: what the threads of a program do, one thing after the other, as data."""

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
    Terminator,
    Value,
)
from eas.ir.types import count
from eas.msl.analysis.facts import Control
from eas.msl.layout.layout import SIMD, axis_of
from eas.msl.ops.all_reduce import is_all_reduce
from eas.msl.ops.mma import numbers
from eas.support.location import Loc
from eas.support.records import field, frozen, record


@frozen
class Assign:
    """Carried values and results that lanes keep take their next values, all at once."""

    pairs: tuple[tuple[Value, Value], ...]
    loc: Loc


@frozen
class Stage:
    """The lanes of a domain write their elements of a block to threadgroup memory."""

    value: Value
    domain: Domain


@frozen
class GatherPartials:
    """The threads of the results of a reduction along the last axis collect the shares of rows."""

    op: Compute


@frozen
class FinishScan:
    """The lanes of a scan take in what the simdgroups before them have passed on."""

    op: Combine


@frozen
class Tile:
    """A matrix is written to its tile in threadgroup memory."""

    op: Compute


Item = Op | Assign | Stage | GatherPartials | FinishScan | Tile


@record(eq=False, slots=True)
class Elements:
    """A loop over the elements of a domain. `touched` are its accesses of arrays."""

    extent: int
    items: list[Item] = field(default_factory=list[Item])
    touched: list[Access] = field(default_factory=list[Access])


@frozen
class Uniform:
    """Every thread computes the same."""

    op: Op


@frozen
class SingleThread:
    """One thread acts for all."""

    op: Store | Atomic | Assert | Print


@frozen
class BroadcastResult:
    """Every thread reads what the one that acted for all got."""

    op: Atomic


@frozen
class StorePartials:
    """The simdgroups put what they have of some reductions into threadgroup memory.

    If it has two places for them, `stage` is the number of the count that tells these apart.
    """

    ops: tuple[Compute, ...]
    stage: int = 0


@frozen
class ReducePartials:
    """Every thread puts the simdgroups' shares together; then it is the other places' turn."""

    ops: tuple[Compute, ...]
    stage: int = 0


@frozen
class ReduceChunks:
    """A reduction along an axis, in turns through threadgroup memory."""

    op: Compute


@frozen
class CombineLanes:
    """The lanes of each simdgroup reduce what they have by a function of the user's."""

    op: Combine


@frozen
class CombinePartials:
    """Every thread puts together what the simdgroups have of such a reduction."""

    op: Combine


@frozen
class ScanPartials:
    """One simdgroup scans what all of them have passed on."""

    op: Combine


@frozen
class ScanRows:
    """The thread of each row walks along it, in threadgroup memory."""

    op: Combine


@frozen
class Matrix:
    """The simdgroups fill fragments of matrices, add a product to them, or write them to memory.

    Or the halves of tiles change places.
    """

    op: Compute


@frozen
class UniformControl:
    """Control flow that all threads share, with a plan for each region."""

    op: Control
    plans: tuple[tuple[Step, ...], ...]


@frozen
class RegionEnd:
    """The end of a region; the values of blocks are assigned before."""

    op: Terminator


@frozen
class Sync:
    """A barrier, for the memory that the threads are to see alike; `loc` is set for the user's."""

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
    | Matrix
)
Step = Elements | LeafStep | UniformControl | RegionEnd | Sync


@frozen
class Plan:
    """The steps of a function. `live_out` values outlive the loop over elements that makes them."""

    steps: tuple[Step, ...]
    live_out: frozenset[Value]
    allocations: tuple[Alloc, ...]


def staged_name(value: Value) -> str:
    """The copy of a block, or the results of a reduction along an axis."""
    return f"staged {value.id}"


def tile_names(op: Compute) -> list[str]:
    """The matrices in threadgroup memory that an op names."""
    return [f"tile {number}" for number in numbers(op, "tiles")]


def strip_name(value: Value) -> str:
    """Some rows of a product of matrices."""
    return f"strip {value.id}"


def crosses_simdgroups(threads: int) -> bool:
    """Whether a reduction by a function needs threadgroup memory: several simdgroups want it."""
    return threads > SIMD


def partial_name(value: Value) -> str:
    """The simdgroups' shares of a reduction."""
    return f"partial {value.id}"


def partial_names(op: Compute) -> list[str]:
    """The shares of a reduction, and for `argmax` and `argmin` those of its indices."""
    name = partial_name(op.result)
    has_index = op.op.reduction in ("argmax", "argmin")
    return [name, f"{name} index"] if has_index else [name]


def chunk_name(value: Value) -> str:
    """As many elements of a reduction as there are threads."""
    return f"chunk {value.id}"


def received_name(value: Value) -> str:
    """What an atomic of one thread gave."""
    return f"received {value.id}"


def partials_of_scan(op: Combine) -> int:
    """How many simdgroups' worth of elements a scan has."""
    return -(-count(op.operands[0].shape) // SIMD)


def fits_simdgroup(op: Combine) -> bool:
    """Whether no row of a scan goes on from one simdgroup to the next."""
    return SIMD % op.operands[0].shape[-1] == 0 or partials_of_scan(op) == 1


def needs_partial_scan(op: Combine) -> bool:
    """Whether a scan has more shares than some simdgroup has lanes at work."""
    partials, in_last = partials_of_scan(op), count(op.operands[0].shape) % SIMD or SIMD
    return not fits_simdgroup(op) and (partials > SIMD or partials - 1 > in_last)


def partials_per_row(op: Compute) -> int:
    """How many shares each row has in a reduction along the last axis."""
    return -(-axis_of(op).extent // SIMD)


def stays_in_simdgroups(op: Compute) -> bool:
    """Whether a reduction for all lanes of a row is done when their simdgroup has done it."""
    return is_all_reduce(op) and partials_per_row(op) == 1
