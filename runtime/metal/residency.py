"""Which memory is in buffers of the GPU already: launches use these buffers and copy nothing."""

from __future__ import annotations

import threading
from bisect import bisect_right, insort

from eas.runtime.metal.objects import Buffer
from eas.support.records import field, frozen, record

# Private memory has no address for the CPU. It gets one that no processor has, so that a layout
# can be described as an array all the same; an access by mistake faults and cannot hit anything.
FIRST_PRIVATE = 1 << 60
GRAIN = 1 << 14


@frozen
class Resident:
    """So many bytes of a buffer, from an offset on."""

    buffer: Buffer
    offset: int
    nbytes: int


@record
class _Entry:
    """A buffer and how often it is in use."""

    buffer: Buffer
    pointer: int
    address: int
    nbytes: int
    count: int = 0


@record
class Residency:
    """Buffers by the addresses that their memory has."""

    _starts: list[int] = field(default_factory=list[int])
    _by_address: dict[int, _Entry] = field(default_factory=dict[int, "_Entry"])
    _by_pointer: dict[int, _Entry] = field(default_factory=dict[int, "_Entry"])
    _next_private: int = FIRST_PRIVATE
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def add(self, buffer: Buffer, pointer: int, nbytes: int, address: int | None) -> int:
        """Registers the memory of a buffer, and gives its address.

        `pointer` identifies the buffer. Private memory has no address and gets one. Each `add`
        needs a `remove`: a buffer may come back from another library.
        """
        with self._lock:
            entry = self._by_pointer.get(pointer)
            if entry is None:
                start = self._reserve_private(nbytes) if address is None else address
                entry = _Entry(buffer, pointer, start, nbytes)
                self._by_pointer[pointer] = self._by_address[start] = entry
                insort(self._starts, start)
            entry.count += 1
            return entry.address

    def remove(self, pointer: int) -> None:
        """The memory of a buffer is not used any more, at one of several places perhaps."""
        with self._lock:
            entry = self._by_pointer[pointer]
            entry.count -= 1
            if entry.count == 0:
                del self._by_pointer[pointer], self._by_address[entry.address]
                self._starts.remove(entry.address)

    def _reserve_private(self, nbytes: int) -> int:
        address = self._next_private
        self._next_private += (nbytes // GRAIN + 2) * GRAIN
        return address

    def find(self, address: int, nbytes: int) -> Resident | None:
        """The buffer that has these bytes; None if there is none."""
        with self._lock:
            number = bisect_right(self._starts, address) - 1
            if number < 0 or nbytes == 0:
                return None
            entry = self._by_address[self._starts[number]]
        offset = address - entry.address
        return Resident(entry.buffer, offset, nbytes) if offset + nbytes <= entry.nbytes else None
