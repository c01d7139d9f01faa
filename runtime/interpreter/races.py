"""Finds races: elements that programs, or threads, access without an order between them.

The programs of a launch run in no order, and so do the threads of a program between two barriers.
Where one of them writes, another must not write something else, must not read, and must not update
with an atomic. Atomics have an order among themselves, but none to what others read or write.
"""

from __future__ import annotations

import numpy as np

from eas.ir.nodes import Atomic, Load, Store
from eas.ir.ops.record import Array
from eas.runtime.interpreter.access import Access, gather
from eas.runtime.interpreter.active_lanes import Lanes, broadcast, raise_rank
from eas.runtime.interpreter.address_spaces import Shadows
from eas.runtime.interpreter.chunk import Chunk
from eas.runtime.interpreter.report import Spot, describe_lane, describe_program, fail, value_at
from eas.runtime.interpreter.shadow_memory import NOBODY, SEVERAL
from eas.runtime.report_codes import CONFLICTING_WRITES, READ_AND_WRITTEN


def check_read(chunk: Chunk, op: Load, access: Access, lanes: Lanes) -> None:
    """Reports a lane that reads an element that another one has written.

    If several have written the same value, the reader is assumed to be one of them.
    """
    for shadows in chunk.memories[op.pointer.id].shadows:
        if shadows.readers is None or _is_empty(access):
            continue
        numbers = _numbers(chunk, shadows, access, lanes)
        others = shadows.writers.others(access.place, numbers)
        bad = None if others is None else (others != NOBODY) & (others != SEVERAL)
        if others is not None and bad is not None and bad.any():
            number = int(bad.argmax())
            spot = access.spot(number)
            writer = _describe(chunk, shadows, int(others[number]))
            _report_read(chunk, op, shadows, spot, (describe_lane(chunk, spot), writer))
        _check_updated(chunk, op, shadows, access, numbers)
        shadows.readers.add(access.place, numbers)


def check_write(chunk: Chunk, op: Store, access: Access, value: Array, lanes: Lanes) -> None:
    """Reports a lane that changes an element that another one has written or read."""
    memory = chunk.memories[op.pointer.id]
    for shadows in memory.shadows:
        if _is_empty(access):
            continue
        numbers = _numbers(chunk, shadows, access, lanes)
        writers = shadows.writers.others(access.place, numbers)
        readers = None if shadows.readers is None else shadows.readers.others(access.place, numbers)
        shadows.writers.enter(access.place, numbers)
        if writers is None and readers is None and shadows.updaters is None:
            continue
        found = gather(memory.flat, access.place)
        changed = differ(found, value)
        _check_updated(chunk, op, shadows, access, numbers, changed)
        for others in (writers, readers):
            bad = None if others is None else changed & (others != NOBODY)
            if others is None or bad is None or not bad.any():
                continue
            number = int(bad.argmax())
            spot, other = access.spot(number), _describe(chunk, shadows, int(others[number]))
            if others is writers:
                values = [str(found[number]), str(value[number])]
                report_conflict(chunk, op, spot, values, [other, describe_lane(chunk, spot)])
            _report_read(chunk, op, shadows, spot, (other, describe_lane(chunk, spot)))


def check_update(chunk: Chunk, op: Atomic, access: Access, lanes: Lanes) -> None:
    """Reports an atomic on an element that another lane has read or written without one."""
    for shadows in chunk.memories[op.pointer.id].shadows:
        if shadows.updaters is None or _is_empty(access):
            continue
        numbers = _numbers(chunk, shadows, access, lanes)
        for shadow, word in ((shadows.writers, "written"), (shadows.readers, "read")):
            others = None if shadow is None else shadow.others(access.place, numbers)
            number = None if others is None else _first_other(shadows, others)
            if others is not None and number is not None:
                spot, other = access.spot(number), _describe(chunk, shadows, int(others[number]))
                _report_atomic(chunk, op, shadows, spot, word, (describe_lane(chunk, spot), other))
        shadows.updaters.add(access.place, numbers)


def _check_updated(
    chunk: Chunk,
    op: Load | Store,
    shadows: Shadows,
    access: Access,
    numbers: Array,
    changed: Array | None = None,
) -> None:
    """Reports a lane that reads or changes an element that another one's atomic has updated."""
    others = None if shadows.updaters is None else shadows.updaters.others(access.place, numbers)
    if others is None:
        return
    number = _first_other(shadows, others if changed is None else np.where(changed, others, NOBODY))
    if number is not None:
        spot, other = access.spot(number), _describe(chunk, shadows, int(others[number]))
        word = "read" if isinstance(op, Load) else "written"
        _report_atomic(chunk, op, shadows, spot, word, (other, describe_lane(chunk, spot)))


def _first_other(shadows: Shadows, others: Array) -> int | None:
    """The first element that others have accessed; None if there is none.

    Several programs count as others. Several threads do not: they may be all threads as one.
    """
    bad = others != NOBODY
    if shadows.of_threads:
        bad &= others != SEVERAL
    return int(bad.argmax()) if bad.any() else None


def pass_barrier(chunk: Chunk) -> None:
    """Orders the accesses of the threads before a barrier before those after it."""
    for memory in chunk.memories.values():
        for shadows in memory.shadows:
            if shadows.of_threads:
                for shadow in shadows.all:
                    shadow.forget()


def _is_empty(access: Access) -> bool:
    return isinstance(access.place, slice) and access.place.start == access.place.stop


def _numbers(chunk: Chunk, shadows: Shadows, access: Access, lanes: Lanes) -> Array:
    """The numbers of the programs or threads of an access: one per element, or per equal part."""
    rows, rank = access.shape[0], len(access.shape)
    if rows != chunk.programs.size:
        return np.full(1, SEVERAL)
    numbers = np.arange(chunk.programs.first, chunk.programs.first + rows)
    if shadows.of_threads:
        is_each = rank == 2 and access.shape[1] == chunk.threads
        threads = np.arange(chunk.threads) if is_each else _only_thread(chunk, lanes, rank)
        numbers = raise_rank(numbers, rank) * chunk.threads + threads
        numbers = np.where(threads == SEVERAL, SEVERAL, numbers)
    elif access.where is None:
        return numbers
    return access.pick(raise_rank(numbers, rank))


def _only_thread(chunk: Chunk, lanes: Lanes, rank: int) -> Array:
    """The active thread of each program, if there is only one, else `SEVERAL`."""
    if chunk.threads == 1:
        return np.zeros(1, np.int64)
    if lanes.where is None or lanes.where.ndim == 1:
        return np.full(1, SEVERAL)
    where = broadcast(lanes.where, (chunk.programs.size, chunk.threads))
    only = np.where(where.sum(axis=1) == 1, where.argmax(axis=1), SEVERAL)
    return raise_rank(only, rank)


def _describe(chunk: Chunk, shadows: Shadows, number: int) -> str:
    if number == SEVERAL:
        return "several threads" if shadows.of_threads else "several programs"
    if not shadows.of_threads:
        return describe_program(chunk.programs, number)
    program, thread = divmod(number, chunk.threads)
    return f"{describe_program(chunk.programs, program)}, thread {thread}"


def _report_read(
    chunk: Chunk, op: Load | Store, shadows: Shadows, spot: Spot, who: tuple[str, str]
) -> None:
    name, at = chunk.memories[op.pointer.id].name, value_at(chunk[op.offset], spot)
    word = "thread" if shadows.of_threads else "program"
    fail(
        READ_AND_WRITTEN,
        f"`{name}` is read at offset {at} by one {word}, and written by another",
        op.loc,
        f"offset {at}",
        notes=(f"it is read by {who[0]}", f"it is written by {who[1]}"),
        help=(
            "put `mk.barrier()` between the two"
            if shadows.of_threads
            else "programs run in no order: write to another array, or in a second launch",
        ),
    )


def _report_atomic(
    chunk: Chunk,
    op: Load | Store | Atomic,
    shadows: Shadows,
    spot: Spot,
    word: str,
    who: tuple[str, str],
) -> None:
    name, at = chunk.memories[op.pointer.id].name, value_at(chunk[op.offset], spot)
    one = "thread" if shadows.of_threads else "program"
    fail(
        READ_AND_WRITTEN,
        f"`{name}` is updated at offset {at} by an atomic of one {one}, and {word} by another",
        op.loc,
        f"offset {at}",
        notes=(f"it is updated by {who[0]}", f"it is {word} by {who[1]}"),
        help=(
            "put `mk.barrier()` between the two"
            if shadows.of_threads
            else "use atomics only, or a second launch: programs run in no order",
        ),
    )


def differ(a: Array, b: Array) -> Array:
    """Where two values differ; two NaNs do not."""
    differs = a != b
    if differs.any():
        differs &= (a == a) | (b == b)
    return differs


def report_conflict(
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
