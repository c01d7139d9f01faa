"""The layout as data, and which elements the lanes of a domain own."""

from __future__ import annotations

from enum import Enum

from eas.ir.aliasing.conflicts import Touch
from eas.ir.aliasing.lane_domains import Domain, element, owner_indices
from eas.ir.aliasing.lane_indices import (
    Index,
    Indices,
    Symbol,
    linear,
    make_symbol,
    of,
)
from eas.ir.nodes import Combine, Compute, Op, Value, results_of
from eas.ir.ops.simdgroup import SIMD
from eas.ir.types import Shape, count
from eas.msl.analysis.costs import Costs
from eas.msl.analysis.facts import Facts
from eas.support.records import field, frozen, record

Inside = tuple[int, Shape]
"""The number of a control op of lanes, and the shape of its domain."""


class Strategy(Enum):
    """How a reduction is done."""

    ALL_REDUCE = "a reduction of the block: in each thread, in each simdgroup, across simdgroups"
    SERIAL = "a reduction along an axis: the owner of each result loops along the axis"
    ROW_PARTIALS = "a reduction of rows: a partial per 32 lanes, gathered by the row's owner"
    ROW_ALL_REDUCE = "a reduction of rows: a partial per simdgroup, gathered by all lanes of a row"
    CHUNKED = "a reduction along an axis: in threadgroup memory, an element per thread at a time"
    SIMD_SCAN = "a scan: in each simdgroup, then across simdgroups"
    SERIAL_SCAN = "a scan: the owner of each row loops along it, in threadgroup memory"
    FRAGMENTS = "a matrix product: fragments are stored to threadgroup memory as a whole"
    STRIPS = "a matrix product: fragments go through threadgroup memory, a strip of rows at a time"


@frozen
class Budget:
    """How threadgroup memory may be spent.

    Each factor of a matrix product has so many `buffers`: two for double buffering. Their rows have
    padding if it `pads`. If it `keeps_factors`, a factor that several products use has one tile. A
    reduction may stage `staged_bytes`. With `strips`, the epilogue of a product stages some rows at
    a time. If it `reuses_memory`, arrays that are live at different times may overlap.
    """

    buffers: int = 2
    staged_bytes: int = 16384
    reuses_memory: bool = False
    strips: bool = False
    pads: bool = True
    keeps_factors: bool = True


_IN_MEMORY = (Strategy.CHUNKED, Strategy.SERIAL_SCAN, Strategy.FRAGMENTS)


def is_owned(value: Value, indices: Indices, extent: int) -> bool:
    """Whether each lane of a domain needs the element of a value that its own thread owns."""
    shape = value.shape
    if extent != count(shape):
        return False
    return indices == owner_indices(shape) or linear(indices, shape) == of(element(extent))


@frozen
class Axis:
    """A reduced axis: the number of elements before it, along it, and after it."""

    before: int
    extent: int
    after: int


def axis_of(op: Compute) -> Axis:
    shape, axis = op.operands[0].shape, op.attr("axis")
    if axis is None:
        return Axis(1, count(shape), 1)
    assert isinstance(axis, int)
    return Axis(count(shape[:axis]), shape[axis], count(shape[axis + 1 :]))


def serial_symbol(op: Compute) -> Symbol:
    """The variable of the loop along a reduced axis."""
    return make_symbol(f"k{op.result.id}", axis_of(op).extent)


def serial_indices(op: Compute, indices: Indices) -> Indices:
    """The element of the operand that an iteration along the reduced axis needs."""
    axis = op.attr("axis")
    assert isinstance(axis, int)
    return (*indices[:axis], of(serial_symbol(op)), *indices[axis:])


def combined_symbol(op: Combine) -> Symbol:
    """The variable of the loop along the axis of a combination."""
    return make_symbol(f"k{op.results[0].id}", op.operands[0].shape[-1])


def combined_indices(indices: Indices, along: Index) -> Indices:
    """The element of an operand of a combination, from the element of its result."""
    return (*indices, along)


def dot_symbol(op: Compute) -> Symbol:
    """The variable of the loop along the inner dimension of a matrix product."""
    return make_symbol(f"k{op.result.id}", op.operands[0].shape[-1])


def dot_indices(op: Compute, indices: Indices) -> tuple[Indices, Indices, Indices]:
    """The elements of the factors and of the addend that an element of a product needs."""
    *batch, row, column = indices
    along = of(dot_symbol(op))
    return (*batch, row, along), (*batch, along, column), indices


@record
class Layout:
    """The decisions.

    `domains` has the control ops that are part of a loop over elements, by number;
    `uniform_control` those that all threads execute together. `materialized` blocks are computed by
    their owners; `staged` blocks are copied to threadgroup memory as well. `replicated` blocks come
    from a larger domain, in which several lanes have each element: they are staged, and have no
    owner. All other blocks are rematerialized where they are needed. `needs` and `touches` are
    caches.
    """

    facts: Facts
    threads: int = 0
    costs: Costs = field(default_factory=Costs)
    strategies: dict[Value, Strategy] = field(default_factory=dict[Value, Strategy])
    domains: dict[int, Domain] = field(default_factory=dict[int, Domain])
    uniform_control: set[int] = field(default_factory=set[int])
    materialized: set[Value] = field(default_factory=set[Value])
    staged: set[Value] = field(default_factory=set[Value])
    replicated: set[Value] = field(default_factory=set[Value])
    needs: dict[Inside, list[tuple[Value, Indices]]] = field(
        default_factory=dict["Inside", list[tuple[Value, Indices]]]
    )
    touches: dict[Inside, list[Touch]] = field(default_factory=dict["Inside", list[Touch]])
    budget: Budget = field(default_factory=Budget)

    def slots(self, extent: int) -> int:
        """The number of elements of a domain that a thread owns at most."""
        return -(-extent // self.threads)

    def is_even(self, extent: int) -> bool:
        """Whether each thread has exactly one element."""
        return extent == self.threads

    @property
    def has_user_barriers(self) -> bool:
        """Whether the user places the barriers: in a thread program."""
        return self.facts.function.threads is not None

    def is_threadgroup_only(self, value: Value) -> bool:
        """Whether a block lies in threadgroup memory only: no thread owns its elements."""
        in_memory = self.strategies.get(value) in _IN_MEMORY
        return in_memory or value in self.replicated

    def has_partials(self, op: Compute) -> bool:
        """Whether an all-reduce of a block has partials in threadgroup memory.

        Values of 64 bits are shuffled, which takes all lanes of a simdgroup.
        """
        is_shuffled = is_64_bit(op) and self.threads % SIMD != 0
        return self.threads > SIMD or (is_shuffled and self.threads > 1)

    def is_serial(self, op: Op | None) -> bool:
        if not isinstance(op, Compute | Combine):
            return False
        return self.strategies.get(results_of(op)[0]) is Strategy.SERIAL


def is_64_bit(op: Compute) -> bool:
    """Whether a reduction works on 64 bits, for which Metal has no SIMD-group functions."""
    return op.operands[0].ty.dtype.bits == 64
