"""Atomics in device and in threadgroup memory: what memory holds after them, and what they give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import eas
from eas import mk
from eas.ir.types import DTYPES, DType
from tests.ops.shapes import SHAPES, THREADS, Shape, offsets
from tests.ops.table.family import Check, Family, Launch
from tests.ops.table.operands import Array, values

# The lanes meet at so many elements: whole words of 32 bits, also where elements are bytes.
PLACES = 4
EXPECTED = 1


def exchanged(old: Array, new: Array) -> Array:
    del old
    return new


def compared(old: Array, new: Array) -> Array:
    return np.where(old == EXPECTED, new, old)


@dataclass(frozen=True)
class Atomic:
    """An atomic by its name in `mk`: how it is called, and what it makes of two numbers."""

    name: str
    write: Callable[..., Any]
    update: Any
    for_floats: bool = True

    def __hash__(self) -> int:
        return hash(self.name)


def compare_and_swap(ptr, offs, value, mask=None):
    return mk.atomic_cas(ptr, offs, EXPECTED, value, mask)


ATOMICS = (
    Atomic("atomic_add", mk.atomic_add, np.add),
    Atomic("atomic_max", mk.atomic_max, np.maximum),
    Atomic("atomic_min", mk.atomic_min, np.minimum),
    Atomic("atomic_and", mk.atomic_and, np.bitwise_and, for_floats=False),
    Atomic("atomic_or", mk.atomic_or, np.bitwise_or, for_floats=False),
    Atomic("atomic_xor", mk.atomic_xor, np.bitwise_xor, for_floats=False),
    Atomic("atomic_xchg", mk.atomic_xchg, exchanged),
    Atomic("atomic_cas", compare_and_swap, compared),
)


@eas.kernel
def in_device_memory(
    numbers, masks, memory, before,
    KINDS: eas.constexpr, SHAPE: eas.constexpr, SIZE: eas.constexpr,
):  # fmt: skip
    """Row `2 k` of `memory` is updated under a mask, in row `2 k + 1` all lanes meet in one place.

    What was there before goes to the same rows of `before`.
    """
    at = offsets(SHAPE)
    v, mask = mk.load(numbers, at), mk.load(masks, at)
    for k in mk.static_range(len(KINDS)):
        old = KINDS[k](memory, 2 * k * PLACES + at % PLACES, v, mask)
        mk.store(before, 2 * k * SIZE + at, old, mask)
        mk.store(before, (2 * k + 1) * SIZE + at, KINDS[k](memory, (2 * k + 1) * PLACES, v))


@eas.kernel
def in_threadgroup_memory(
    numbers, masks, memory, before,
    KINDS: eas.constexpr, SHAPE: eas.constexpr, SIZE: eas.constexpr,
):  # fmt: skip
    """The same with a copy of `memory` that the threads share."""
    t = mk.tid(0, SIZE)
    shared = mk.alloc_tg(2 * len(KINDS) * PLACES, memory.dtype)
    v, mask = mk.load(numbers, t), mk.load(masks, t)
    for place in range(t, 2 * len(KINDS) * PLACES, SIZE):
        mk.store(shared, place, mk.load(memory, place))
    mk.barrier()
    for k in mk.static_range(len(KINDS)):
        old = KINDS[k](shared, 2 * k * PLACES + t % PLACES, v, mask)
        mk.store(before, 2 * k * SIZE + t, old, mask)
        mk.store(before, (2 * k + 1) * SIZE + t, KINDS[k](shared, (2 * k + 1) * PLACES, v))
    mk.barrier()
    for place in range(t, 2 * len(KINDS) * PLACES, SIZE):
        mk.store(memory, place, mk.load(shared, place))


def launch(kernel: Any, dtype: DType, shape: Shape) -> Launch:
    kinds = [kind for kind in ATOMICS if kind.for_floats or not dtype.is_float]
    size = int(np.prod(shape))
    random = np.random.default_rng(size)
    masks, numbers = random.random(size) < 0.7, drawn(random, dtype, size)
    start = np.tile(random.integers(0, 3, PLACES).astype(dtype.numpy), (len(kinds), 2, 1))
    memory, before = start.copy(), np.zeros((len(kinds), 2, size), dtype.numpy)
    everywhere = np.arange(size)
    ways = (
        ("under a mask", np.flatnonzero(masks), everywhere % PLACES),
        ("of all lanes in one place", everywhere, np.zeros_like(everywhere)),
    )
    checks: list[Check] = []
    for k, kind in enumerate(kinds):
        for row, (words, lanes, places) in enumerate(ways):
            rows = (start[k, row], memory[k, row], before[k, row])
            checks += Trace(kind, *rows, numbers, lanes, places).checks(f"{kind.name} {words}")
    functions = tuple(kind.write for kind in kinds)
    arrays = {"numbers": numbers, "masks": masks, "memory": memory, "before": before}
    given = {**arrays, "KINDS": functions, "SHAPE": shape, "SIZE": size}
    refusal = f"Metal has no atomics on {dtype}" if dtype.bits == 64 and dtype.is_int else None
    return Launch(kernel, given, checks, refusal=refusal)


@dataclass(frozen=True)
class Trace:
    """What lanes did to places: memory before and after, and what each of them found."""

    kind: Atomic
    start: Array
    memory: Array
    before: Array
    numbers: Array
    lanes: Array
    places: Array

    def checks(self, words: str) -> list[Check]:
        """Each number that was found was left there by another lane, or was the first or the last.

        Where the order does not matter, the last number is known as well.
        """
        left = Check(f"what {words} found", self.found, self.written)
        if self.kind.update in (exchanged, compared):
            return [left]
        return [Check(words, self.memory, self.accumulated()), left]

    def found(self) -> Array:
        return self._by_place(self.before[self.lanes], self.memory)

    def written(self) -> Array:
        with np.errstate(over="ignore"):
            after = self.kind.update(self.before[self.lanes], self.numbers[self.lanes])
        return self._by_place(after, self.start)

    def accumulated(self) -> Array:
        totals = self.start.copy()
        for lane in self.lanes:
            place = self.places[lane]
            with np.errstate(over="ignore"):
                totals[place] = self.kind.update(totals[place], self.numbers[lane])
        return totals

    def _by_place(self, numbers: Array, more: Array) -> Array:
        """The numbers of the lanes, and one more for each place, in order."""
        everything = np.concatenate([numbers, more])
        places = np.concatenate([self.places[self.lanes], np.arange(PLACES)])
        return everything[np.lexsort((everything, places))]


def drawn(random: np.random.Generator, dtype: DType, size: int) -> Array:
    """Integers of all sizes; floats whose sums are exact, in whatever order."""
    if dtype.is_float:
        return random.integers(-2, 3, size).astype(dtype.numpy)
    return values(random, dtype, size)


def launch_in_device_memory(dtype: DType, shape: Shape) -> Launch:
    return launch(in_device_memory, dtype, shape)


def launch_in_threadgroup_memory(dtype: DType, shape: Shape) -> Launch:
    return launch(in_threadgroup_memory, dtype, shape)


NUMBERS = tuple(dtype for dtype in DTYPES.values() if not dtype.is_bool)
UPDATED = (
    Family("atomic", NUMBERS, SHAPES, launch_in_device_memory),
    Family("atomic of threads", NUMBERS, THREADS, launch_in_threadgroup_memory),
)
