"""Products of matrices and of batches of them, with sums that go on."""

from __future__ import annotations

import numpy as np

import eas
from eas import mk
from eas.ir.ops.matrix import sum_dtype
from eas.ir.types import I8, U8, DType
from tests.ops.shapes import Shape, offsets
from tests.ops.table.family import Check, Family, Launch
from tests.ops.table.operands import values
from tests.ops.table.records import accepted

# Rows, columns and what is added up, after the size of a batch: of whole fragments, and others.
SHAPES = (
    *((1, 1, 1), (5, 7, 3), (16, 16, 8), (33, 17, 9), (64, 32, 24)),
    *((1, 8, 16, 8), (2, 5, 3, 7), (6, 16, 8, 24)),
)


@eas.kernel
def multiply(a, b, acc, out, SHAPE: eas.constexpr, SIZE: eas.constexpr):
    batch = SHAPE[:-3]
    rows, columns, depth = SHAPE[-3:]
    left, right = (
        mk.load(a, offsets((*batch, rows, depth))),
        mk.load(b, offsets((*batch, depth, columns))),
    )
    at = offsets((*batch, rows, columns))
    mk.store(out, at, mk.dot(left, right))
    mk.store(out, SIZE + at, mk.dot(left, right, mk.load(acc, at)))


def launch_products(dtype: DType, shape: Shape) -> Launch:
    """Products that add up exactly, in whatever order, and are too large for f16."""
    *batch, rows, columns, depth = shape
    random = np.random.default_rng(0)
    sizes = ((*batch, rows, depth), (*batch, depth, columns), (*batch, rows, columns))
    total = sum_dtype(dtype).numpy if dtype.is_float else np.dtype(np.int32)
    a, b, acc = (64 * random.integers(-9, 10, size) for size in sizes)
    if dtype.is_int:
        a, b = (values(random, dtype, x.size).reshape(x.shape) for x in (a, b))
    right = a.astype(np.int64) @ b.astype(np.int64)
    out = np.zeros((2, *acc.shape), total)
    checks = [
        Check("dot", out[0], right.astype(total)),
        Check("dot with a sum", out[1], (right + acc).astype(total)),
    ]
    given = {"a": a.astype(dtype.numpy), "b": b.astype(dtype.numpy), "acc": acc.astype(total)}
    return Launch(multiply, {**given, "out": out, "SHAPE": shape, "SIZE": acc.size}, checks)


@eas.kernel
def multiply_fragments(a, b, out, SIZE: eas.constexpr):
    """Each simdgroup adds up two products of 8x8 matrices, which lie 16 elements apart."""
    t = mk.tid(0, SIZE)
    first = mk.sg_id() * 128
    acc = mk.mma_zero()
    acc = mk.mma(acc, a, first, b, first, a_stride=16, b_stride=16)
    acc = mk.mma(acc, a, first + 8, b, first + 8, a_stride=16, b_stride=16)
    mk.store(a, t, mk.load(a, t))
    mk.mma_store(acc, out, mk.sg_id() * 64)


def launch_fragments(dtype: DType, shape: Shape) -> Launch:
    count = shape[0] // 32
    random = np.random.default_rng(0)
    a, b = (random.integers(-9, 10, (count, 8, 16)).astype(dtype.numpy) for _ in range(2))
    out = np.zeros((count, 8, 8), dtype.numpy)
    right = a[..., :8] @ b[..., :8] + a[..., 8:] @ b[..., 8:]
    checks = [Check("mma", out, right)]
    return Launch(multiply_fragments, {"a": a, "b": b, "out": out, "SIZE": shape[0]}, checks)


MULTIPLIED = (
    Family("dot", (*accepted("dot"), I8, U8), SHAPES, launch_products),
    Family("mma", accepted("mma_word"), ((32,), (96,)), launch_fragments),
)
