"""Kernels in Python with one bug each, and their repaired twins.

The line to be blamed ends with `# bug`; of a race, both lines do. There are 64 threads, and every
array has 128 elements.
"""

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import eas
from eas import mk


@dataclass(frozen=True)
class Pair:
    """A kernel with a bug, what kind it is, and the kernel without."""

    kind: str
    wrong: Any
    right: Any
    programs: int = 1

    @property
    def blamed(self) -> list[int]:
        lines, first = inspect.getsourcelines(self.wrong.fn)
        return [first + n for n, line in enumerate(lines) if line.rstrip().endswith("# bug")]


PAIRS: dict[str, Pair] = {}


def pair(name: str, kind: str, programs: int = 1) -> Any:
    """Adds the two kernels that a function defines."""

    def add(make: Any) -> Any:
        wrong, right = make()
        PAIRS[name] = Pair(kind, wrong, right, programs)
        return make

    return add


@pair("a division by zero", "DIVISION_BY_ZERO")
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        v = i - 5
        mk.store(n, i, 100 // v)  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        v = i - 5
        if v != 0:
            mk.store(n, i, 100 // v)

    return wrong, right


@pair("a remainder by zero", "DIVISION_BY_ZERO")
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        v = mk.load(n, i)
        w = i % v  # bug
        mk.store(n, i, w * w)

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        v = mk.load(n, i)
        w = i % (v + 1)
        mk.store(n, i, w * w)

    return wrong, right


@pair("a truncated division of unsigned numbers by zero", "DIVISION_BY_ZERO")
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        v = mk.to_u32(t)
        mk.store(n, t, mk.to_i32(v // (v >> 1)))  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        v = mk.to_u32(t)
        mk.store(n, t, mk.to_i32(v // ((v >> 1) + 1)))

    return wrong, right


@pair("no barrier between writing and reading", "READ_BEFORE_WRITE")
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        shared = mk.alloc_tg(T, mk.f32)
        mk.store(shared, t, mk.load(x, t))
        mk.store(y, t, mk.load(shared, T - 1 - t))  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        shared = mk.alloc_tg(T, mk.f32)
        mk.store(shared, t, mk.load(x, t))
        mk.barrier()
        mk.store(y, t, mk.load(shared, T - 1 - t))

    return wrong, right


@pair("no barrier before memory is used again", "READ_AFTER_WRITE_RACE")
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        shared = mk.alloc_tg(T, mk.f32)
        total = 0.0
        for k in range(2):
            mk.store(shared, t, mk.load(x, t + k))  # bug
            mk.barrier()
            total += mk.load(shared, T - 1 - t)  # bug
        mk.store(y, t, total)

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        shared = mk.alloc_tg(T, mk.f32)
        total = 0.0
        for k in range(2):
            mk.store(shared, t, mk.load(x, t + k))
            mk.barrier()
            total += mk.load(shared, T - 1 - t)
            mk.barrier()
        mk.store(y, t, total)

    return wrong, right


@pair("a tree without a barrier on each level", "WRITE_AFTER_READ_RACE")
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        shared = mk.alloc_tg(T, mk.f32)
        mk.store(shared, t, mk.load(x, t))
        mk.barrier()
        for step in (32, 16, 8, 4, 2, 1):
            if t < step:
                mk.store(shared, t, mk.load(shared, t) + mk.load(shared, t + step))  # bug
        mk.barrier()
        mk.store(y, t, mk.load(shared, 0))

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        shared = mk.alloc_tg(T, mk.f32)
        mk.store(shared, t, mk.load(x, t))
        mk.barrier()
        for step in (32, 16, 8, 4, 2, 1):
            if t < step:
                mk.store(shared, t, mk.load(shared, t) + mk.load(shared, t + step))
            mk.barrier()
        mk.store(y, t, mk.load(shared, 0))

    return wrong, right


@pair("memory that nobody wrote", "READ_BEFORE_WRITE")
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        shared = mk.alloc_tg(T, mk.f32)
        mk.store(y, t, mk.load(shared, t))  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        shared = mk.alloc_tg(T, mk.f32)
        mk.store(shared, t, 0.0)
        mk.store(y, t, mk.load(shared, t))

    return wrong, right


@pair("half of the memory is not cleared", "READ_BEFORE_WRITE")
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        shared = mk.alloc_tg(2 * T, mk.i32)
        mk.store(shared, t, 0)
        mk.barrier()
        mk.atomic_add(shared, t * 2, 1)  # bug
        mk.barrier()
        mk.store(n, t, mk.load(shared, t))

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        shared = mk.alloc_tg(2 * T, mk.i32)
        mk.store(shared, t, 0)
        mk.store(shared, t + T, 0)
        mk.barrier()
        mk.atomic_add(shared, t * 2, 1)
        mk.barrier()
        mk.store(n, t, mk.load(shared, t))

    return wrong, right


@pair("a write behind threadgroup memory", "INDEX_OUTSIDE")
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        shared = mk.alloc_tg(T, mk.f32)
        mk.store(shared, t + 1, mk.load(x, t))  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        shared = mk.alloc_tg(T + 1, mk.f32)
        mk.store(shared, t + 1, mk.load(x, t))

    return wrong, right


@pair("a read before threadgroup memory", "INDEX_OUTSIDE")
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        shared = mk.alloc_tg(T, mk.f32)
        mk.store(shared, t, mk.load(x, t))
        mk.barrier()
        mk.store(y, t, mk.load(shared, t - 1))  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        shared = mk.alloc_tg(T, mk.f32)
        mk.store(shared, t, mk.load(x, t))
        mk.barrier()
        if t > 0:
            mk.store(y, t, mk.load(shared, t - 1))

    return wrong, right


@pair("a read by one behind the end", "READ_OUTSIDE")
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        mk.store(y, i, mk.load(x, 2 * i + 2))  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        mk.store(y, i, mk.load(x, 2 * i + 1))

    return wrong, right


@pair("a read by one before the start", "READ_OUTSIDE")
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        left = mk.load(x, i - 1)  # bug
        mk.store(y, i, left)

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        left = mk.load(x, i - 1, i > 0)
        mk.store(y, i, left)

    return wrong, right


@pair("a write by one behind the end", "WRITE_OUTSIDE", 2)
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        i = mk.program_id(0) * T + mk.arange(0, T)
        mk.store(y, i + 1, mk.load(x, i))  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        i = mk.program_id(0) * T + mk.arange(0, T)
        mk.store(y, i + 1, mk.load(x, i), i + 1 < 2 * T)

    return wrong, right


@pair("a write by one before the start", "WRITE_OUTSIDE")
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        if t % 2 == 0:
            mk.store(y, t - 1, 0.0)  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        if t % 2 == 0:
            mk.store(y, t + 1, 0.0)

    return wrong, right


@pair("a mask on the load, but none on the store", "WRITE_OUTSIDE", 3)
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        i = mk.program_id(0) * T + mk.arange(0, T)
        v = mk.load(x, i, i < 128)
        mk.store(y, i, v)  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        i = mk.program_id(0) * T + mk.arange(0, T)
        v = mk.load(x, i, i < 128)
        mk.store(y, i, v, i < 128)

    return wrong, right


@pair("a loop that goes one step too far", "READ_OUTSIDE")
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        total = 0.0
        for k in range(66):
            total += mk.load(x, i + k)  # bug
        mk.store(y, i, total)

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        total = 0.0
        for k in range(65):
            total += mk.load(x, i + k)
        mk.store(y, i, total)

    return wrong, right


@pair("an index that is read is not looked at", "READ_OUTSIDE")
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        at = mk.load(n, i) + 100
        mk.store(y, i, mk.load(x, at))  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        at = mk.load(n, i) + 100
        mk.store(y, i, mk.load(x, at, at < 128))

    return wrong, right


@pair("two programs write one place", "WRITE_WRITE_RACE", 2)
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        mk.store(y, i, mk.load(x, i) + mk.program_id(0))  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        mk.store(y, i + mk.program_id(0) * T, mk.load(x, i) + mk.program_id(0))

    return wrong, right


@pair("a program reads what another one writes", "WRITE_AFTER_READ_RACE", 2)
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        i = mk.program_id(0) * T + mk.arange(0, T)
        mk.store(y, i, 1.0)  # bug
        mk.store(x, i, mk.load(y, 2 * T - 1 - i))  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        i = mk.program_id(0) * T + mk.arange(0, T)
        mk.store(y, i, 1.0)
        mk.store(x, i, mk.load(y, i))

    return wrong, right


@pair("lanes write one place", "WRITE_WRITE_RACE")
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        mk.store(n, i // 2, i)  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        mk.store(n, i // 2, i, i % 2 == 0)

    return wrong, right


@pair("a sum over programs without atomics", "READ_AFTER_WRITE_RACE", 3)
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        total = mk.sum(mk.load(x, mk.arange(0, T)))
        mk.store(y, 0, mk.load(y, 0) + total)  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        total = mk.sum(mk.load(x, mk.arange(0, T)))
        mk.atomic_add(y, 0, total)

    return wrong, right


@pair("counted with and without atomics", "WRITE_AFTER_READ_RACE", 2)
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        mk.atomic_add(n, 0, 1)  # bug
        mk.store(y, t + mk.program_id(0) * T, float(mk.load(n, 0)))  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        mk.atomic_add(n, 0, 1)
        mk.store(y, t + mk.program_id(0) * T, float(mk.atomic_add(n, 1, 0)))

    return wrong, right


@pair("an atomic outside", "WRITE_OUTSIDE")
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        mk.atomic_max(n, 2 * i + 2, i)  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        mk.atomic_max(n, 2 * i + 1, i)

    return wrong, right


@pair("neighbours in device memory without a barrier", "WRITE_AFTER_READ_RACE")
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        mk.store(y, t, mk.load(x, t))  # bug
        mk.store(x, t, mk.load(y, (t + 1) % T))  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        t = mk.tid(0, T)
        mk.store(y, t, mk.load(x, t))
        mk.barrier()
        mk.store(x, t, mk.load(y, (t + 1) % T))

    return wrong, right


@pair("a helper that reads outside", "READ_OUTSIDE")
def _():
    def right_of(x, i):
        return mk.load(x, i + 65)

    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        mk.store(y, i, mk.load(x, i + 65) + right_of(x, i - 64))  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        i = mk.arange(0, T)
        mk.store(y, i, mk.load(x, i + 64) + right_of(x, i - 64))

    return wrong, right


@pair("rows and columns mixed up", "READ_OUTSIDE")
def _():
    @eas.kernel
    def wrong(x, y, n, T: eas.constexpr):
        i = mk.arange(0, 16)[:, None]
        j = mk.arange(0, 8)[None, :]
        mk.store(y, i * 8 + j, mk.load(x, j * 8 + i * 16))  # bug

    @eas.kernel
    def right(x, y, n, T: eas.constexpr):
        i = mk.arange(0, 16)[:, None]
        j = mk.arange(0, 8)[None, :]
        mk.store(y, i * 8 + j, mk.load(x, j * 16 + i))

    return wrong, right
