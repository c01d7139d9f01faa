"""Kernels for launches of Metal texts."""

from __future__ import annotations

import eas
from eas import mk


@eas.kernel
def twice(x, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(x, i, mk.load(x, i, i < N) * 2, i < N)


@eas.kernel
def shift(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(y, i, mk.load(x, i, i < N), i < N)


@eas.kernel
def clear_and_keep(source, cleared, kept, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    old = mk.load(source, i)
    mk.store(cleared, i, 0.0)
    mk.store(kept, i, old)


def root_of(x, i, mask):
    root = mk.sqrt(mk.load(x, i, mask))
    mk.store(x, i, root, mask)
    return mk.sqrt(root + 1.0)


@eas.kernel
def rooted(x, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(x, i, root_of(x, i, i < N), i < N)


@eas.kernel
def add_up(x, total, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.atomic_add(total, i * 0, mk.load(x, i))


@eas.kernel
def stray(x, at: mk.i64):
    mk.store(x, at, 7.0)


@eas.kernel
def spin(x, TIMES: mk.i64):
    total = 0.0
    for _ in range(TIMES):
        total = mk.sqrt(mk.load(x, 0) + total)
    mk.store(x, 0, total)


@eas.kernel
def copy_rows(x, y):
    i = mk.program_id(0)
    for j in range(x.shape[1]):
        y[i, j] = x[i, j]


@eas.kernel
def talk(x, BLOCK: eas.constexpr):
    program = mk.program_id(0) + 10 * mk.program_id(1)
    v = mk.load(x, mk.arange(0, BLOCK))
    print("program", program)
    print("value", v, "of", program)


@eas.kernel
def demand(x, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    assert mk.load(x, i, i < N) < 50, "too large"


@eas.kernel
def say_all(a, b, c, d, e):
    print(a, b, c, d, e)


@eas.kernel(fast_math=True)
def scaled_sum(x, y, factor, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(y, 0, mk.sum(mk.load(x, i, i < N) * factor))
