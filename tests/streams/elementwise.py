"""Kernels that graphs fuse, or must not fuse."""

from __future__ import annotations

import eas
from eas import mk


@eas.kernel
def add(x, y, out, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(out, i, mk.load(x, i, i < N) + mk.load(y, i, i < N), i < N)


@eas.kernel
def relu(x, out, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(out, i, mk.maximum(mk.load(x, i, i < N), 0.0), i < N)


@eas.kernel
def shift(x, out, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(out, i, mk.load(x, i + 1, i + 1 < N), i < N)


@eas.kernel
def crowd(x, N, BLOCK: eas.constexpr):
    """Two lanes write one element, the same value."""
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(x, i // 2, 3.0, i < N)


@eas.kernel
def half(x, out, N, BLOCK: eas.constexpr):
    """Another mask than that of the other kernels: only even elements."""
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    inside = (i < N) & (i % 2 == 0)
    mk.store(out, i, mk.load(x, i, inside, other=-7.0), inside)


@eas.kernel
def divide(x, out, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(out, i, 1000 // mk.load(x, i, i < N, other=1), i < N)


@eas.kernel
def total(x, out, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(out, 0, mk.sum(mk.load(x, i)))


@eas.kernel
def crossed(x, out, N, BLOCK: eas.constexpr):
    """Programs whose elements overlap with those of their neighbors."""
    i = mk.program_id(0) * (BLOCK // 2) + mk.arange(0, BLOCK)
    mk.store(out, i, mk.load(x, i, i < N) + 1.0, i < N)


@eas.kernel
def say(x):
    print("x is", mk.load(x, 0))
