"""Shadow memory: which program or thread accessed each element of an array."""

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
    """The number of the program or thread that accessed each element of an array.

    Accesses to increasing ranges of consecutive elements, as in most kernels, are only listed in
    `stretches`. The first access of another kind builds `table` from the list. It holds the
    complements of the numbers, so that zero is `NOBODY`.
    """

    size: int
    stretches: list[tuple[slice, Array]] = field(default_factory=list[tuple[slice, Array]])
    end: int = 0
    table: Array | None = None

    def enter(self, place: slice | Array, numbers: Array) -> None:
        """Records who accesses the elements at `place`: each number an equal part of them."""
        if isinstance(place, slice) and self._is_beyond(place):
            self.stretches.append((place, numbers))
            self.end = place.stop
        else:
            table = self._make_table()
            now = _repeat(numbers, table[place].size)
            table[place] = ~now
            _mark_repeated(table, place, now)

    def add(self, place: slice | Array, numbers: Array) -> None:
        """Like `enter`, but keeps earlier accesses: an element of two numbers has `SEVERAL`."""
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
        """Who else has accessed each of the elements; None if nobody has."""
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
        """Whether it equals the last listed access: a program accesses its elements again."""
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
    """Zeros whose pages are allocated on first write: few elements of a large array may be used."""
    if size < _LARGE or not _IS_POSIX:
        return np.zeros(size, np.int64)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE
    return np.frombuffer(mmap.mmap(-1, size * 8, flags=flags), np.int64)


def _mark_repeated(table: Array, place: slice | Array, now: Array) -> None:
    """Marks elements that occur in an access more than once: the table has only the last number."""
    if not isinstance(place, slice):
        table[place[table[place] != ~now]] = ~SEVERAL


def _repeat(numbers: Array, size: int) -> Array:
    return np.repeat(numbers, size // numbers.size)
