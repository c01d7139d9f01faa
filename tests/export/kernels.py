"""Kernels with all that a manifest can say, each with arguments to launch it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import eas
from eas import mk


@eas.kernel(examples=[("*f32", "*f32", "*f32", "i32", {"BLOCK": 256})])
def add(a, b, c, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mask = offs < N
    mk.store(c, offs, mk.load(a, offs, mask) + mk.load(b, offs, mask), mask)


@eas.kernel(
    examples=[("*f32", "*f32", "i32", {"BLOCK": 64}), ("*f16", "*f16", "i32", {"BLOCK": 32})]
)
def normalize(x, y, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    row = mk.program_id(0) * N
    v = mk.load(x, row + i, i < N, other=-float("inf"))
    e = mk.exp(mk.to_f32(v) - mk.max(mk.to_f32(v)))
    mk.store(y, row + i, (e / mk.sum(e)).to(y.dtype), i < N)


@eas.kernel
def reverse(a, size: mk.i64, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    shared = mk.alloc_tg(THREADS)
    assert size <= THREADS, "more than fits"
    mk.store(shared, t, mk.load(a, t, t < size), t < size)
    mk.barrier()
    mk.store(a, t, mk.load(shared, size - 1 - t, t < size), t < size)


@eas.kernel
def scale_rows(a, factors, half, is_on, W, H: eas.constexpr, BLOCK: eas.constexpr):
    i = mk.program_id(1)
    if is_on:
        for k in range(BLOCK):
            if mk.program_id(0) * BLOCK + k < W:
                a[i, mk.program_id(0) * BLOCK + k] *= factors[i] * half


@eas.kernel
def sum_of_many(
    out, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0: mk.i8, b1, b2: mk.f16, b3, b4, b5, b6, b7, b8,
    b9, c0, c1, c2: mk.u64, c3, c4, c5, c6, c7, c8, c9, d0: mk.bool,
):  # fmt: skip
    total = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + b1 + b3 + b4 + b5 + b6 + b7 + b8 + b9
    total += c0 + c1 + c3 + c4 + c5 + c6 + c7 + c8 + c9 + mk.to_i32(b0) + mk.to_i32(b2)
    out[0] = total + mk.to_i32(c2) + mk.to_i32(d0)


@eas.kernel
def größe(in_, struct, grid, N, BLOCK: eas.constexpr):
    """Names that other languages reserve, or do not have."""
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(grid, i, mk.load(in_, i, i < N) + struct, i < N)
    print("done", N)


@eas.kernel
def clip(max, min, struct, N, MODE: eas.constexpr, BLOCK: eas.constexpr):
    """Names that a host uses itself, and a constant that would end a text or a comment."""
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(max, i, i < N)
    mk.store(max, i, mk.minimum(v, min) if MODE else v, i < N)


@dataclass(frozen=True)
class Case:
    """Types to export a kernel for, and arguments to launch it with."""

    kernel: eas.Kernel
    types: tuple[Any, ...]
    constants: dict[str, Any]
    arguments: Callable[[], list[Any]]
    grid: tuple[int, int, int] | None = None
    options: dict[str, Any] = field(default_factory=dict[str, Any])


def floats(*shape: int) -> Any:
    return np.random.default_rng(0).integers(-8, 8, shape).astype(np.float32)


MANY = ("i32",) * 10 + ("i8", "i32", "f16") + ("i32",) * 9 + ("u64",) + ("i32",) * 7 + ("bool",)
CASES = {
    "add": Case(
        add,
        ("*f32", "*f32", "*f32", "i32"),
        {"BLOCK": 256},
        lambda: [floats(300), floats(300), np.zeros(300, np.float32), 300],
    ),
    "normalize": Case(
        normalize,
        ("*f16", "*f16", "i32"),
        {"BLOCK": 64},
        lambda: [floats(90).astype(np.float16), np.zeros(90, np.float16), 45],
        (2, 1, 1),
    ),
    "reverse": Case(reverse, ("*f32", "i64"), {"THREADS": 64}, lambda: [floats(50), 50], (1, 1, 1)),
    "scale_rows": Case(
        scale_rows,
        ("*f32[:, :]", "*f32[:]", "f32", "bool", "i32"),
        {"H": 5, "BLOCK": 8},
        lambda: [floats(5, 19), floats(5), 0.5, True, 19],
    ),
    "scale_rows_wide": Case(
        scale_rows,
        ("*f32[:, :] @ i64", "*f32[:]", "f32", "bool", "i32"),
        {"H": 5, "BLOCK": 8},
        lambda: [floats(5, 19), floats(5), 0.5, True, 19],
        options={"_checked": True},
    ),
    "sum_of_many": Case(
        sum_of_many,
        ("*i32[:]", *MANY),
        {},
        lambda: [np.zeros(3, np.int32), *range(1, 31), True],
        (1, 1, 1),
    ),
    "größe": Case(
        größe,
        ("*f32", "f32", "*f32", "i32"),
        {"BLOCK": 32},
        lambda: [floats(40), 2.0, np.zeros(40, np.float32), 40],
    ),
    "clip": Case(
        clip,
        ("*f32", "f32", "i32", "i32"),
        {"MODE": 'a"""b */ {x} \n\\', "BLOCK": 32},
        lambda: [floats(40), 2.0, 1, 40],
    ),
    "add_checked": Case(
        add,
        ("*f32", "*f32", "*f32", "i32"),
        {"BLOCK": 64},
        lambda: [floats(300), floats(300), np.zeros(300, np.float32), 300],
        options={"_checked": True, "_tptg": 32},
    ),
}
