"""Who touched which element of an array last."""

from __future__ import annotations

import mmap
import sys

import numpy as np

from eas.ir.ops.record import Array
from eas.support.records import field, record

NOBODY = -1
SEVERAL = -2

_LARGE = 1 << 24  # elements
_IS_POSIX = hasattr(mmap, "MAP_ANONYMOUS")
_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)


@record(slots=True)
class ShadowMemory:
    """The number of the program or thread that touched each element of an array.

    As long as they touch ever higher stretches of consecutive elements, as in most kernels, these
    are only listed. `table` is made from the list by the first access that does not fit. It holds
    the numbers' complements, so that zero is nobody.
    """

    size: int
    stretches: list[tuple[slice, Array]] = field(default_factory=list[tuple[slice, Array]])
    end: int = 0
    table: Array | None = None

    def enter(self, place: slice | Array, numbers: Array) -> None:
        """Puts down who touches a place now: each of the numbers an equal part of it."""
        if isinstance(place, slice) and self._is_beyond(place):
            self.stretches.append((place, numbers))
            self.end = place.stop
        else:
            table = self._make_table()
            now = _repeat(numbers, table[place].size)
            table[place] = ~now
            _mark_repeated(table, place, now)

    def add(self, place: slice | Array, numbers: Array) -> None:
        """Like `enter`, but does not forget who was there before."""
        if self._is_last(place, numbers):
            return
        if self._is_beyond(place):
            self.enter(place, numbers)
            return
        table = self._make_table()
        before = ~table[place]
        now = _repeat(numbers, before.size)
        table[place] = ~np.where((before == NOBODY) | (before == now), now, SEVERAL)
        _mark_repeated(table, place, now)

    def others(self, place: slice | Array, numbers: Array) -> Array | None:
        """Who but these touched each of the elements, or None if nobody did."""
        if self._is_beyond(place) or self._is_last(place, numbers):
            return None
        before = ~self._make_table()[place]
        now = _repeat(numbers, before.size)
        others = np.where((before == now) & (before != SEVERAL), NOBODY, before)
        return None if (others == NOBODY).all() else others

    def forget(self) -> None:
        self.stretches.clear()
        self.end, self.table = 0, None

    def _is_beyond(self, place: slice | Array) -> bool:
        return isinstance(place, slice) and self.table is None and place.start >= self.end

    def _is_last(self, place: slice | Array, numbers: Array) -> bool:
        """Whether it is what was listed last: a program comes back to its elements."""
        if not self.stretches or not isinstance(place, slice):
            return False
        last, same = self.stretches[-1]
        return last == place and np.array_equal(same, numbers) and SEVERAL not in numbers

    def _make_table(self) -> Array:
        if self.table is None:
            self.table = zeros(self.size)
            for place, numbers in self.stretches:
                self.table[place] = ~_repeat(numbers, place.stop - place.start)
            self.stretches.clear()
        return self.table


def zeros(size: int) -> Array:
    """Memory that is there once it is written: a large array may be touched in few places only."""
    if size < _LARGE or not _IS_POSIX:
        return np.zeros(size, np.int64)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE
    return np.frombuffer(mmap.mmap(-1, size * 8, flags=flags), np.int64)


def _mark_repeated(table: Array, place: slice | Array, now: Array) -> None:
    """Of a place that stands in an access more than once, only the last number was put down."""
    if not isinstance(place, slice):
        table[place[table[place] != ~now]] = ~SEVERAL


def _repeat(numbers: Array, size: int) -> Array:
    return np.repeat(numbers, size // numbers.size)
