"""The pool: size classes, what comes back, limits, and memory of the system."""

from __future__ import annotations

import gc
import mmap
import threading
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import eas
from eas.runtime.tensors import cpu_memory
from eas.runtime.tensors.cpu_memory import CpuSource, Pages
from eas.runtime.tensors.pool import LARGEST_SMALL, Lease, Pool, class_size

MEGABYTE = 1 << 20


@pytest.fixture(autouse=True)
def no_limit() -> Iterator[None]:
    gc.collect()
    eas.memory.empty_cache()
    yield
    eas.memory.limit(None)


def new_pool(limit: int | None = None) -> Pool:
    return Pool("cpu", {"shared": CpuSource()}, limit)


@given(st.integers(0, 1 << 40))
def test_a_class_is_large_enough_and_not_much_larger(nbytes: int) -> None:
    size = class_size(nbytes)
    assert nbytes <= size
    assert size <= max(64, 2 * nbytes)
    assert nbytes <= LARGEST_SMALL or size * 4 <= nbytes * 5
    assert class_size(size) == size
    assert size % 64 == 0


@given(st.lists(st.integers(0, 200_000), max_size=40), st.randoms())
def test_blocks_in_use_never_overlap(sizes: list[int], random: object) -> None:
    pool, held = new_pool(), dict[int, tuple[Lease, int]]()
    for number, size in enumerate(sizes):
        held[number] = (pool.take(size, "shared"), size)
        if number % 3 == 2:
            del held[random.choice(sorted(held))]  # type: ignore[attr-defined]
    ranges = sorted((lease.address, lease.address + size) for lease, size in held.values())
    assert all(a[1] <= b[0] for a, b in pairwise(ranges))
    assert pool.stats().in_use == sum(class_size(size) for _, size in held.values())


def test_memory_that_comes_back_is_used_again() -> None:
    t = eas.zeros((1000, 1000))
    address = t.numpy().ctypes.data
    before = eas.memory.stats()
    del t
    after = eas.memory.stats()
    size = class_size(4_000_000)
    assert (before.in_use - after.in_use, after.cached - before.cached) == (size, size)
    assert eas.empty((999, 1001)).numpy().ctypes.data == address
    assert eas.memory.stats().allocations == before.allocations


def test_memory_comes_back_after_the_last_view_of_it() -> None:
    in_use = eas.memory.stats().in_use
    t = eas.zeros(1 << 20)
    array, view = t[10:].numpy(), t[::2]
    del t
    assert eas.memory.stats().in_use - in_use == 4 * MEGABYTE
    del view
    assert eas.memory.stats().in_use - in_use == 4 * MEGABYTE
    del array
    assert eas.memory.stats().in_use == in_use


def test_an_empty_cache_has_nothing() -> None:
    tensors = [eas.zeros(size) for size in (1, 1000, 100_000, 10_000_000)]
    del tensors
    assert eas.memory.stats().cached > 40_000_000
    eas.memory.empty_cache()
    assert eas.memory.stats().cached == 0


def test_a_slab_that_is_partly_in_use_stays() -> None:
    pool = new_pool()
    first, second = pool.take(64, "shared"), pool.take(64, "shared")
    assert pool.stats().allocations == 1
    del second
    pool.empty_cache()
    assert pool.stats().cached == 65536 - 64
    del first
    pool.empty_cache()
    assert pool.stats().cached == 0


def test_a_limit_is_kept_and_its_error_names_the_bytes() -> None:
    eas.memory.limit(eas.memory.stats().in_use + 10 * MEGABYTE)
    t = eas.empty(2 * MEGABYTE)
    with pytest.raises(eas.OutOfMemoryError) as caught:
        eas.empty(MEGABYTE // 2 + 1)
    said = str(caught.value)
    assert said.startswith("2097156 bytes for a tensor on cpu are over the limit of ")
    assert isinstance(caught.value, MemoryError)
    del t
    assert eas.empty(2 * MEGABYTE + 5).size == 2 * MEGABYTE + 5  # what was cached made room


def test_small_tensors_fit_under_a_small_limit() -> None:
    pool = new_pool(1000)
    leases = [pool.take(100, "shared") for _ in range(7)]
    with pytest.raises(eas.OutOfMemoryError, match="100 bytes for a tensor on cpu are over"):
        pool.take(100, "shared")
    leases.pop()
    assert pool.take(100, "shared").block.size == 128


def test_a_lower_limit_holds_for_what_is_cached() -> None:
    pool = new_pool()
    lease = pool.take(MEGABYTE, "shared")
    del lease
    pool.limit = MEGABYTE // 2
    with pytest.raises(eas.OutOfMemoryError):
        pool.take(MEGABYTE, "shared")
    assert pool.stats().cached == 0


@pytest.mark.parametrize("value", [-1, 1.5, "1 GB", True])
def test_a_limit_that_is_none_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="a limit is a number of bytes or None"):
        eas.memory.limit(value)  # type: ignore[arg-type]


def test_more_than_the_system_has_is_refused() -> None:
    for size in (1 << 50, 1 << 70):
        with pytest.raises(eas.OutOfMemoryError, match=f"no memory for the {4 * size} bytes"):
            eas.empty(size)


class Scarce(CpuSource):
    """A system that has memory for some allocations only."""

    def __init__(self, count: int) -> None:
        self.count = count

    def allocate(self, nbytes: int) -> Pages | None:
        self.count -= 1
        return super().allocate(nbytes) if self.count >= 0 else None


def test_a_system_without_memory_gets_back_what_is_cached() -> None:
    source = Scarce(1)
    pool = Pool("cpu", {"shared": source})
    lease = pool.take(MEGABYTE, "shared")
    del lease
    source.count = 1 - 1
    with pytest.raises(eas.OutOfMemoryError, match="cpu has no memory for the 2097152 bytes"):
        pool.take(2 * MEGABYTE, "shared")
    assert pool.stats().cached == 0


def test_memory_is_aligned_to_pages_and_huge_pages() -> None:
    for size in (4096, 100_000, MEGABYTE):
        assert eas.empty(size, dtype="u8").numpy().ctypes.data % mmap.PAGESIZE == 0
    large = eas.empty(2 * cpu_memory.LEAST_HUGE, dtype="u8")
    assert large.numpy().ctypes.data % cpu_memory.HUGE_PAGE == 0
    assert large.fill_(1).numpy()[-1] == 1
    assert eas.empty(3, dtype="u8").numpy().ctypes.data % 64 == 0


def test_threads_take_and_give_back_at_once() -> None:
    pool = new_pool()

    def work(seed: int) -> None:
        held: list[Lease] = []
        for n in range(500):
            held.append(pool.take((n * seed) % 5000, "shared"))
            if len(held) > 10:
                held.pop(n % 10)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pool.empty_cache()
    assert (pool.stats().in_use, pool.stats().cached) == (0, 0)
