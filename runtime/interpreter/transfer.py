"""Loads, stores and allocations."""

from __future__ import annotations

import numpy as np

from eas.ir.nodes import Alloc, Load, Store
from eas.ir.ops.record import Array
from eas.ir.types import Pointer, is_opaque
from eas.runtime.interpreter.access import Access, check_written, find_access, gather
from eas.runtime.interpreter.active_lanes import Lanes
from eas.runtime.interpreter.address_spaces import threadgroup_memory
from eas.runtime.interpreter.chunk import Chunk
from eas.runtime.interpreter.races import check_read, check_write, differ, report_conflict
from eas.runtime.interpreter.report import describe_lane


def run_alloc(chunk: Chunk, op: Alloc, lanes: Lanes) -> Lanes:
    assert isinstance(op.result.ty, Pointer)
    name = op.result.hint or "threadgroup memory"
    memory = chunk.memories[op.result.id] = threadgroup_memory(
        name, op.result.ty.dtype, op.size, chunk.programs.size, chunk.function.threads is not None
    )
    if is_opaque(op.result.ty) and op.result.ty.dtype.is_float:
        memory.flat[...] = np.nan  # so that what is read before it is written shows
    return lanes


def run_load(chunk: Chunk, op: Load, lanes: Lanes) -> Lanes:
    memory = chunk.memories[op.pointer.id]
    rank = 1 + len(op.offset.shape)
    other = np.zeros((1,) * rank, memory.flat.dtype) if op.other is None else chunk[op.other]
    access = find_access(chunk, op, lanes, other.shape)
    check_written(chunk, op, access)
    check_read(chunk, op, access, lanes)
    found = access.spread(gather(memory.flat, access.place), other)
    is_view = access.where is None and isinstance(access.place, slice)
    chunk[op.result] = found.copy() if is_view and not memory.is_constant else found
    return lanes


def run_store(chunk: Chunk, op: Store, lanes: Lanes) -> Lanes:
    memory = chunk.memories[op.pointer.id]
    access = find_access(chunk, op, lanes, chunk[op.value].shape)
    value = access.pick(chunk[op.value])
    check_write(chunk, op, access, value, lanes)
    memory.flat[access.place] = value
    if memory.written is not None:
        memory.written[access.place] = True
    if not isinstance(access.place, slice):
        _check_stored(chunk, op, access, access.place, value)
    return lanes


def _check_stored(chunk: Chunk, op: Store, access: Access, index: Array, value: Array) -> None:
    """Reports a lane that finds another value where it has just stored its own."""
    memory = chunk.memories[op.pointer.id]
    differs = differ(gather(memory.flat, index), value)
    if differs.any():
        loser = int(differs.argmax())
        winner = int(np.flatnonzero(index == index[loser])[-1])
        spots = access.spot(loser), access.spot(winner)
        writers = [describe_lane(chunk, spot) for spot in spots]
        report_conflict(chunk, op, spots[0], [str(value[loser]), str(value[winner])], writers)
