"""Loads, stores and allocations, and the check that lanes do not write over each other."""

from __future__ import annotations

import numpy as np

from eas.ir.nodes import Alloc, Load, Store
from eas.ir.ops.record import Array
from eas.ir.types import Pointer
from eas.runtime.interpreter.access import Access, check_written, find_access, gather
from eas.runtime.interpreter.chunk import Chunk
from eas.runtime.interpreter.lanes import Lanes, raise_rank
from eas.runtime.interpreter.memory import threadgroup_memory
from eas.runtime.interpreter.report import Spot, fail, tell_place, tell_program, value_at
from eas.runtime.interpreter.writers import NOBODY, SEVERAL, writers_now
from eas.runtime.reports import CONFLICTING_WRITES


def run_alloc(chunk: Chunk, op: Alloc, lanes: Lanes) -> Lanes:
    assert isinstance(op.result.ty, Pointer)
    name = op.result.hint or "threadgroup memory"
    chunk.memories[op.result.id] = threadgroup_memory(
        name, op.result.ty.dtype, op.size, chunk.programs.size
    )
    return lanes


def run_load(chunk: Chunk, op: Load, lanes: Lanes) -> Lanes:
    memory = chunk.memories[op.pointer.id]
    rank = 1 + len(op.offset.shape)
    other = np.zeros((1,) * rank, memory.flat.dtype) if op.other is None else chunk[op.other]
    access = find_access(chunk, op, lanes, other.shape)
    check_written(chunk, op, access)
    found = access.spread(gather(memory.flat, access.place), other)
    is_view = access.where is None and isinstance(access.place, slice)
    chunk[op.result] = found.copy() if is_view and not memory.is_constant else found
    return lanes


def run_store(chunk: Chunk, op: Store, lanes: Lanes) -> Lanes:
    memory = chunk.memories[op.pointer.id]
    access = find_access(chunk, op, lanes, chunk[op.value].shape)
    value = access.pick(chunk[op.value])
    _check_writers(chunk, op, access, value)
    memory.flat[access.place] = value
    if memory.written is not None:
        memory.written[access.place] = True
    if not isinstance(access.place, slice):
        _check_stored(chunk, op, access, access.place, value)
    return lanes


def _check_stored(chunk: Chunk, op: Store, access: Access, index: Array, value: Array) -> None:
    """Reports a lane that finds another value where it has just stored its own."""
    memory = chunk.memories[op.pointer.id]
    differs = _differ(gather(memory.flat, index), value)
    if differs.any():
        loser = int(differs.argmax())
        winner = int(np.flatnonzero(index == index[loser])[-1])
        spots = access.spot(loser), access.spot(winner)
        writers = [tell_place(chunk, spot) for spot in spots]
        _report_conflict(chunk, op, spots[0], [str(value[loser]), str(value[winner])], writers)


def _check_writers(chunk: Chunk, op: Store, access: Access, value: Array) -> None:
    """Reports a program that is about to replace what another one wrote by something else."""
    memory = chunk.memories[op.pointer.id]
    if memory.writers is None or not value.size:
        return
    numbers = writers_now(chunk.programs, access.shape[0])
    if access.where is not None:
        numbers = access.pick(raise_rank(numbers, len(access.shape)))
    others = memory.writers.claim(access.place, numbers)
    if others is None:
        return
    found = gather(memory.flat, access.place)
    differs = _differ(found, value) & (others != NOBODY)
    if differs.any():
        number = int(differs.argmax())
        spot, other = access.spot(number), int(others[number])
        first = "several programs" if other == SEVERAL else tell_program(chunk.programs, other)
        values = [str(found[number]), str(value[number])]
        _report_conflict(chunk, op, spot, values, [first, tell_place(chunk, spot)])


def _differ(a: Array, b: Array) -> Array:
    """Where two values differ; two NaNs do not."""
    differs = a != b
    if differs.any():
        differs &= (a == a) | (b == b)
    return differs


def _report_conflict(
    chunk: Chunk, op: Store, spot: Spot, values: list[str], writers: list[str]
) -> None:
    name, at = chunk.memories[op.pointer.id].name, value_at(chunk[op.offset], spot)
    fail(
        CONFLICTING_WRITES,
        f"different values are written to `{name}`, at offset {at}",
        op.loc,
        f"{values[0]} and {values[1]} go to offset {at}",
        notes=tuple(f"{v} comes from {w}" for v, w in zip(values, writers, strict=True)),
        help=("let one lane write there, or use an atomic operation",),
    )
