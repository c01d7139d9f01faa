"""Random kernels that exchange numbers through `mk.alloc_tg`: thread by thread, and over blocks.

In a kernel for threads, a barrier stands wherever an access has to wait for another, and nowhere
else. Blocks need none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

PROGRAMS = 2
TIMES = 3
# Every number that is stored is below 100. Of bf16 NumPy knows nothing; f32 has them, too.
DTYPES = {
    "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4",
    "u64": "u8", "f16": "f2", "bf16": "f4", "f32": "f4",
}  # fmt: skip
_COUNTERS = 5
_SIMD = 32


@dataclass(frozen=True)
class Kernel:
    """A kernel for `size` threads, or over blocks of so many elements."""

    text: str
    size: int
    has_threads: bool


def write_kernel(random: Random) -> Kernel:
    size = random.choice([random.randrange(1, 71), random.randrange(1, 71), 96, 100, 256])
    has_threads = random.random() < 0.6
    writer = _Writer(random, size, has_threads)
    writer.start()
    writer.add(random.randrange(3, 8), 1)
    lines = [*writer.lines, f"    mk.store(out, p * {size} + t, a)"]
    head = "import eas\nfrom eas import mk\n\n\n@eas.kernel\ndef exchange(x, out, n):\n"
    return Kernel(head + "\n".join(lines) + "\n", size, has_threads)


class _Writer:
    def __init__(self, random: Random, size: int, has_threads: bool) -> None:
        self.random, self.size, self.has_threads = random, size, has_threads
        self.lines: list[str] = []
        self.dtypes = {f"s{n}": random.choice(list(DTYPES)) for n in range(2)}
        # How each array was accessed since the last barrier, if it was.
        self.touched: dict[str, str] = {}

    def start(self) -> None:
        position = "tid" if self.has_threads else "arange"
        self.line(1, f"t = mk.{position}(0, {self.size})")
        self.line(1, "p = mk.program_id(0)")
        self.line(1, f"a = mk.load(x, p * {self.size} + t)")
        for name, dtype in self.dtypes.items():
            self.line(1, f"{name} = mk.alloc_tg({self.size}, mk.{dtype})")
            self.line(1, f"mk.store({name}, t, mk.cast(t % 7, mk.{dtype}))")
            self.touched[name] = "written"
        self.line(1, f"counts = mk.alloc_tg({_COUNTERS}, mk.i32)")
        self.line(1, f"mk.store(counts, t % {_COUNTERS}, 0, t < {_COUNTERS})")
        if self.size < _COUNTERS:
            self.line(1, f"mk.store(counts, t + {self.size}, 0, t < {_COUNTERS - self.size})")
            for more in range(2 * self.size, _COUNTERS):
                self.line(1, f"mk.store(counts, t * 0 + {more}, 0, t == 0)")
        self.touched["counts"] = "written"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def add(self, count: int, depth: int) -> None:
        for _ in range(count):
            if depth < 3 and self.random.random() < 0.2:
                self.control(depth)
                continue
            kinds = [self.store, self.store, self.load, self.load, self.count, self.reduce]
            self.random.choice([*kinds, *[self.exchange] * (2 * self.has_threads)])(depth)

    def control(self, depth: int) -> None:
        """Control flow is uniform; a loop comes back to what it has touched."""
        heads = ["for k in range(n):", "if n > 2:", "if n % 2 == 0:", "if p == 1:"]
        head = self.random.choice(heads)
        if head.startswith("for"):
            self.barrier(depth)
        before = dict(self.touched)
        self.line(depth, head)
        self.add(self.random.randrange(1, 4), depth + 1)
        if head.startswith("for"):
            self.barrier(depth + 1)
        self.touched = _joined(before, self.touched)

    def barrier(self, depth: int) -> None:
        if self.touched and self.has_threads:
            self.line(depth, "mk.barrier()")
        self.touched = {}

    def store(self, depth: int) -> None:
        name, dtype = self.random.choice(list(self.dtypes.items()))
        if name in self.touched:
            self.barrier(depth)
        step = self.random.randrange(self.size)
        places = ["t", f"{self.size - 1} - t", f"(t + {step}) % {self.size}"]
        mask = self.random.choice(["", "", ", t % 3 != 1", ", a > 20"])
        value = f"mk.cast(a % 100, mk.{dtype})"
        self.line(depth, f"mk.store({name}, {self.random.choice(places)}, {value}{mask})")
        self.touched[name] = "written"

    def load(self, depth: int) -> None:
        name = self.random.choice(list(self.dtypes))
        self.wait_to_read(name, depth)
        places = ["t", f"(t * 7 + 3) % {self.size}", "t // 2", f"(a + 900) % {self.size}"]
        found = f"mk.load({name}, {self.random.choice(places)})"
        self.line(depth, f"a = a * 3 % 100 + mk.cast({found}, mk.i32)")

    def count(self, depth: int) -> None:
        if self.random.random() < 0.4:
            self.wait_to_read("counts", depth)
            self.line(depth, f"a = a + mk.load(counts, (t + 1) % {_COUNTERS}) % 50")
            return
        if self.touched.get("counts", "updated") != "updated":
            self.barrier(depth)
        self.line(depth, f"mk.atomic_add(counts, (a + 900) % {_COUNTERS}, t % 4)")
        self.touched["counts"] = "updated"

    def wait_to_read(self, name: str, depth: int) -> None:
        if self.touched.get(name, "read") != "read":
            self.barrier(depth)
        self.touched[name] = "read"

    def reduce(self, depth: int) -> None:
        found = self.random.choice(
            ["mk.sum(a)", "mk.max(a)", "mk.cumsum(a)", "mk.reduce(a, 0, lambda u, v: u + v)"]
        )
        self.line(depth, f"a = (a + {found}) % 100")

    def exchange(self, depth: int) -> None:
        found = self.random.choice([
            "mk.simd_sum(a)", "mk.simd_max(a)", "mk.simd_min(a)", "mk.simd_shuffle(a, 31 - t % 32)",
            "mk.simd_shuffle(a, t % 40 - 3)", "mk.simd_shuffle_xor(a, 5)",
            "mk.simd_broadcast(a, 3)", "mk.simd_shuffle_xor(a, t % 3)",
            "mk.simd_broadcast(a, t % 4)", "mk.simd_shuffle_xor(a, n)",
            "mk.simd_broadcast(a, n + p)",
        ])  # fmt: skip
        self.line(depth, f"a = (a + {found}) % 100")


def _joined(a: dict[str, str], b: dict[str, str]) -> dict[str, str]:
    """What may have been touched if a branch was taken or not."""
    joined = {**a, **b}
    return {n: "either" if a.get(n, how) != how else how for n, how in joined.items()}


def run_in_numpy(kernel: Kernel, x: Array, out: Array) -> None:
    body = kernel.text[kernel.text.index("def ") :]
    for program in range(PROGRAMS):
        scope: dict[str, Any] = {"mk": _functions(program)}
        exec(body, scope)
        scope["exchange"](x, out, TIMES)


def _functions(program: int) -> SimpleNamespace:
    def positions(start: int, stop: int) -> Array:
        return np.arange(start, stop, dtype=np.int32)

    def load(array: Array, places: Array) -> Array:
        return array[places]

    def store(array: Array, places: Array, value: Any, mask: Any = True) -> None:
        chosen = np.broadcast_to(mask, places.shape)
        array[places[chosen]] = np.broadcast_to(value, places.shape)[chosen]

    def reduce(a: Array, axis: int, function: Any) -> Any:
        del axis, function
        return a.sum(dtype=np.int32)

    dtypes = {name: np.dtype(held) for name, held in DTYPES.items()}
    return SimpleNamespace(
        tid=positions,
        arange=positions,
        program_id=lambda axis: np.int32(program),
        load=load,
        store=store,
        cast=lambda a, dtype: np.asarray(a).astype(dtype),
        alloc_tg=np.zeros,
        atomic_add=np.add.at,
        barrier=lambda: None,
        sum=lambda a: a.sum(dtype=np.int32),
        max=np.max,
        cumsum=lambda a: a.cumsum(dtype=np.int32),
        reduce=reduce,
        simd_sum=_in_groups(np.sum),
        simd_max=_in_groups(np.max),
        simd_min=_in_groups(np.min),
        simd_shuffle=_fetch,
        simd_broadcast=_fetch,
        simd_shuffle_xor=lambda a, mask: _fetch(a, np.arange(a.size) % _SIMD ^ mask),
        **dtypes,
    )


def _in_groups(function: Any) -> Callable[[Array], Array]:
    def reduce(a: Array) -> Array:
        groups = [a[start : start + _SIMD] for start in range(0, a.size, _SIMD)]
        return np.concatenate([np.full(g.shape, function(g), np.int32) for g in groups])

    return reduce


def _fetch(a: Array, lane: Any) -> Array:
    """The values of other lanes; of one that is missing, a thread's own."""
    own: Array = np.arange(a.size)
    place = own // _SIMD * _SIMD + lane
    is_there = (np.asarray(lane) >= 0) & (np.asarray(lane) < _SIMD) & (place < a.size)
    return a[np.where(is_there, place, own)]
