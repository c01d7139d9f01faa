"""The elements of memory that a load, store or atomic accesses, and their bounds checks."""

from __future__ import annotations

import numpy as np

from eas.ir.nodes import Atomic, Load, Store
from eas.ir.ops.record import Array
from eas.ir.report_sites import ACCESS_KINDS
from eas.runtime.errors import KernelError
from eas.runtime.interpreter.active_lanes import Lanes, broadcast, raise_rank
from eas.runtime.interpreter.address_spaces import Memory
from eas.runtime.interpreter.chunk import Chunk
from eas.runtime.interpreter.report import (
    Spot,
    check_exact,
    describe_lane,
    fail,
    first_true,
    value_at,
)
from eas.runtime.report_codes import READ_BEFORE_WRITE
from eas.support.faults import Extent, outside
from eas.support.records import frozen


@frozen
class Access:
    """The elements that the lanes of an op access, in the order of programs and lanes.

    These are all lanes of `shape`, or those where `where` holds. `place` has the positions of their
    elements: a slice if they are consecutive, or an index for each.
    """

    shape: tuple[int, ...]
    where: Array | None
    place: slice | Array

    @property
    def index(self) -> Array:
        """The position of each element."""
        if isinstance(self.place, slice):
            return np.arange(int(self.place.start), int(self.place.stop))
        return self.place

    def pick(self, value: Array) -> Array:
        """The elements of a value in the active lanes, as a flat array."""
        value = broadcast(value, self.shape)
        return value.reshape(-1) if self.where is None else value[self.where]

    def spread(self, elements: Array, other: Array) -> Array:
        """The elements of the active lanes as a value, which is `other` in inactive lanes."""
        if self.where is None:
            return elements.reshape(self.shape)
        value = np.broadcast_to(other, self.shape).copy()
        value[self.where] = elements
        return value

    def spot(self, number: int) -> Spot:
        """The position of the n-th active lane."""
        if self.where is not None:
            number = int(np.flatnonzero(self.where)[number])
        return tuple(int(i) for i in np.unravel_index(number, self.shape))


def find_access(
    chunk: Chunk, op: Load | Store | Atomic, lanes: Lanes, shape: tuple[int, ...]
) -> Access:
    """Checks the offsets of the active lanes; `shape` is the least shape of the lanes."""
    memory, offset = chunk.memories[op.pointer.id], chunk[op.offset]
    where = lanes.chosen(None if op.mask is None else chunk[op.mask], op.offset.shape)
    if memory.stride:
        shape = (chunk.programs.size, *shape[1:])
    if where is not None:
        shape = np.broadcast_shapes(offset.shape, shape, where.shape)
        where = broadcast(where, shape)
    elif offset.shape != shape:
        shape = np.broadcast_shapes(offset.shape, shape)
    access = Access(shape, where, slice(0, 0))
    line = access.pick(offset)
    if not line.size:
        return access
    if op.offset.id in chunk.plan.exact:
        name = f"the offset into `{memory.name}`"
        way = "row.to(mk.i64) * width + column`, or leave it to the compiler: `a[row, column]"
        check_exact(chunk, op.offset, where, op.loc, name, way)
    if int(line.min()) < memory.low or int(line.max()) >= memory.high:
        _report_outside(chunk, op, memory, where)
    if memory.stride:
        rows = raise_rank(np.arange(shape[0]) * memory.stride, len(shape))
        line = line.astype(np.intp) + access.pick(rows)
    return Access(shape, where, _place(line, memory.origin))


def gather(flat: Array, place: slice | Array) -> Array:
    """The elements at some positions; a view if they are consecutive."""
    if isinstance(place, slice) or not flat.flags.c_contiguous:
        return flat[place]
    return flat.take(place)  # faster than an index, but copies an array that is not contiguous


def _place(line: Array, origin: int) -> slice | Array:
    first, last = int(line[0]), int(line[-1])
    # Differences that wrap around cannot all be 1 while the ends fit the count.
    if last - first == line.size - 1 and (line[1:] - line[:-1] == 1).all():
        return slice(first + origin, last + origin + 1)
    index = line.astype(np.intp, copy=False)
    return index + origin if origin else index


def _report_outside(
    chunk: Chunk, op: Load | Store | Atomic, memory: Memory, where: Array | None
) -> None:
    offset = chunk[op.offset]
    bad = (offset < memory.low) | (offset >= memory.high)
    spot = first_true(bad if where is None else bad & where)
    extent = Extent(memory.name, memory.shape, memory.low, memory.high)
    at, place = int(value_at(offset, spot)), describe_lane(chunk, spot)
    is_masked = op.mask is not None
    raise KernelError((outside(ACCESS_KINDS[type(op)], extent, at, op.loc, place, is_masked),))


def check_written(chunk: Chunk, op: Load | Atomic, access: Access) -> None:
    """Reports a lane that reads memory that was not written."""
    memory = chunk.memories[op.pointer.id]
    if memory.written is None:
        return
    written = memory.written[access.place]
    if not written.all():
        spot = access.spot(int(written.argmin()))
        at = value_at(chunk[op.offset], spot)
        fail(
            READ_BEFORE_WRITE,
            f"`{memory.name}` is read at offset {at}, where nothing was written",
            op.loc,
            f"offset {at}",
            notes=(describe_lane(chunk, spot),),
            help=("threadgroup memory has no values before the program stores some",),
        )
