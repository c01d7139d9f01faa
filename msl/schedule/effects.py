"""What a step does to memory: each step declares it, and no other file restates it."""

from __future__ import annotations

from collections.abc import Iterable

from eas.ir.aliasing.conflicts import Access, Kind
from eas.msl.schedule.threadgroup_arrays import ThreadgroupArray
from eas.support.records import frozen


@frozen
class Effects:
    """The accesses of a step to device and threadgroup memory, without those of nested steps.

    If `after_barrier` is given, a threadgroup barrier of the step's own comes after its `accesses`,
    and these follow the barrier. At its end the step `swaps` double buffers, or `restarts` their
    stage counters: then it is unknown which buffer an earlier access was to.
    """

    accesses: tuple[Access, ...] = ()
    after_barrier: tuple[Access, ...] | None = None
    swaps: frozenset[ThreadgroupArray] = frozenset()
    restarts: frozenset[ThreadgroupArray] = frozenset()


NO_EFFECTS = Effects()


def reads(arrays: Iterable[ThreadgroupArray]) -> tuple[Access, ...]:
    """Reads by any thread."""
    return _accesses("read", arrays)


def writes(arrays: Iterable[ThreadgroupArray]) -> tuple[Access, ...]:
    """Writes by any thread."""
    return _accesses("write", arrays)


def _accesses(kind: Kind, arrays: Iterable[ThreadgroupArray]) -> tuple[Access, ...]:
    return tuple(Access(array, kind) for array in arrays)
