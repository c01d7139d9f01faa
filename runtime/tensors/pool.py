"""A pool of memory by size classes: what a tensor gives back is there for the next one.

A request is rounded up to the size of its class. Small classes are cut out of slabs; a large block
is an allocation of its own. Memory that comes back stays in the pool until `empty_cache`, or until
a limit or the system asks for it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from typing import Protocol

from eas.runtime.tensors.errors import OutOfMemoryError
from eas.support.records import field, frozen, record

LEAST = 64  # bytes: also the alignment of small blocks, a line of the cache
LARGEST_SMALL = 1 << 16  # larger blocks have an allocation each
BLOCKS_PER_SLAB = 16
LEAST_SLAB = 1 << 16


class Chunk(Protocol):
    """Memory of the system's, which is freed when nothing refers to it any more."""

    @property
    def address(self) -> int: ...


class Source(Protocol):
    """Where the memory of a pool comes from; `cuts_slabs` if small blocks share an allocation."""

    @property
    def cuts_slabs(self) -> bool: ...

    def allocate(self, nbytes: int) -> Chunk | None:
        """New memory; None if there is none left."""
        ...


@frozen
class Stats:
    """What a pool has handed out, in bytes.

    `in_use` is memory of tensors, rounded up to size classes, and `peak` the most that it ever was.
    `cached` is memory that came back and waits for the next tensor. `allocations` counts how often
    memory was taken from the system. `limit` is None if there is none.
    """

    in_use: int
    cached: int
    peak: int
    allocations: int
    limit: int | None


@record
class Slab:
    """A chunk that is cut into blocks of one size."""

    chunk: Chunk
    count: int
    free: int


@frozen
class Block:
    """So many bytes of a chunk, from an offset on. A large block is all of its chunk."""

    chunk: Chunk
    offset: int
    size: int
    kind: str
    slab: Slab | None


class Lease:
    """A block in use: it comes back to its pool when nothing refers to the lease any more."""

    __slots__ = ("_returned", "block")

    def __init__(self, block: Block, returned: deque[Block]) -> None:
        self.block = block
        self._returned = returned

    @property
    def address(self) -> int:
        return self.block.chunk.address + self.block.offset

    def __del__(self) -> None:
        # Any thread may end up here at any time, also one that holds the lock of the pool.
        self._returned.append(self.block)


@record
class Pool:
    """The memory of a device. There may be several kinds of it, each with a source."""

    device: str
    sources: Mapping[str, Source]
    limit: int | None = None
    _free: dict[tuple[str, int], list[Block]] = field(
        default_factory=dict[tuple[str, int], list[Block]]
    )
    _returned: deque[Block] = field(default_factory=deque[Block])
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _in_use: int = 0
    _cached: int = 0
    _peak: int = 0
    _allocations: int = 0

    def take(self, nbytes: int, kind: str) -> Lease:
        """Memory for so many bytes; raises `OutOfMemoryError` over the limit."""
        size = class_size(nbytes)
        with self._lock:
            self._collect()
            block = self._cached_block(kind, size) or self._new_block(kind, size, nbytes)
            self._in_use += size
            self._peak = max(self._peak, self._in_use)
        return Lease(block, self._returned)

    def stats(self) -> Stats:
        with self._lock:
            self._collect()
            return Stats(self._in_use, self._cached, self._peak, self._allocations, self.limit)

    def empty_cache(self) -> None:
        """Gives memory that no tensor uses back to the system."""
        with self._lock:
            self._collect()
            self._drop_cached()

    def reset_lock(self) -> None:
        """In a forked process: another thread may have held the lock."""
        self._lock = threading.Lock()

    def _collect(self) -> None:
        """Takes back what tensors have let go of."""
        while self._returned:
            block = self._returned.popleft()
            self._in_use -= block.size
            self._put(block)

    def _put(self, block: Block) -> None:
        self._cached += block.size
        self._free.setdefault((block.kind, block.size), []).append(block)
        if block.slab is not None:
            block.slab.free += 1

    def _cached_block(self, kind: str, size: int) -> Block | None:
        found = self._free.get((kind, size))
        if not found or self._is_over_limit(0):
            return None
        block = found.pop()
        self._cached -= size
        if block.slab is not None:
            block.slab.free -= 1
        return block

    def _new_block(self, kind: str, size: int, nbytes: int) -> Block:
        is_cut = size <= LARGEST_SMALL and self.sources[kind].cuts_slabs
        amount = slab_size(size) if is_cut else size
        if self._is_over_limit(amount):
            self._drop_cached()
        if self._is_over_limit(amount):
            amount = size  # a slab does not fit: one block of it may
        if self._is_over_limit(amount):
            raise OutOfMemoryError(
                f"{nbytes} bytes for a tensor on {self.device} are over the limit of "
                f"{self.limit} bytes, of which {self._in_use + self._cached} are in use"
            )
        chunk = self._allocate(kind, amount)
        if chunk is None:
            raise OutOfMemoryError(
                f"{self.device} has no memory for the {nbytes} bytes of a tensor; "
                f"tensors use {self._in_use} bytes of it"
            )
        if amount == size:
            return Block(chunk, 0, size, kind, None)
        return self._cut(chunk, kind, size, amount // size)

    def _allocate(self, kind: str, amount: int) -> Chunk | None:
        chunk = self.sources[kind].allocate(amount)
        if chunk is None and self._cached:
            self._drop_cached()
            chunk = self.sources[kind].allocate(amount)
        self._allocations += chunk is not None
        return chunk

    def _cut(self, chunk: Chunk, kind: str, size: int, count: int) -> Block:
        """The first block of a new slab; the others are free."""
        slab = Slab(chunk, count, 0)
        for number in reversed(range(1, count)):
            self._put(Block(chunk, number * size, size, kind, slab))
        return Block(chunk, 0, size, kind, slab)

    def _is_over_limit(self, more: int) -> bool:
        return self.limit is not None and self._in_use + self._cached + more > self.limit

    def _drop_cached(self) -> None:
        """Forgets free blocks: their chunks are freed, unless a slab is partly in use."""
        for key, blocks in list(self._free.items()):
            kept = [b for b in blocks if b.slab is not None and b.slab.free < b.slab.count]
            self._cached -= key[1] * (len(blocks) - len(kept))
            self._free[key] = kept


def class_size(nbytes: int) -> int:
    """The size of the class that a request falls into: at most a quarter more, from 64 KiB on.

    >>> class_size(1), class_size(100), class_size(5000), class_size(100_000)
    (64, 128, 8192, 114688)
    """
    if nbytes <= LARGEST_SMALL:
        return max(LEAST, 1 << (nbytes - 1).bit_length())
    step = 1 << ((nbytes - 1).bit_length() - 3)  # four classes between two powers of two
    return -(-nbytes // step) * step


def slab_size(size: int) -> int:
    """How much memory is taken from the system for small blocks of a size."""
    return max(LEAST_SLAB, BLOCKS_PER_SLAB * size)
