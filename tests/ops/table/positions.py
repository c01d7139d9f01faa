"""Where a program, a lane or a thread is, and promises about numbers."""

from __future__ import annotations

import numpy as np

import eas
from eas import mk
from eas.ir.ops.simdgroup import SIMD
from eas.ir.types import DTYPES, I32, DType
from tests.ops.shapes import SHAPES, THREADS, Shape, moves, offsets
from tests.ops.table.family import Check, Family, Launch
from tests.ops.table.operands import values

GRID = (3, 2, 4)


@eas.kernel
def locate(out, SIZE: eas.constexpr):
    """Each program writes a row of six numbers and a block behind it."""
    x, y, z = mk.program_id(0), mk.program_id(1), mk.program_id(2)
    row = (z * mk.num_programs(1) + y) * mk.num_programs(0) + x
    first = row * (6 + SIZE)
    numbers = (x, y, z, mk.num_programs(0), mk.num_programs(1), mk.num_programs(2))
    for k, number in enumerate(numbers):
        mk.store(out, first + k, number)
    i = mk.arange(7, 7 + SIZE)
    mk.store(out, first + i - 1, i)


def launch_programs(dtype: DType, shape: Shape) -> Launch:
    [size] = shape
    out = np.zeros((*GRID[::-1], 6 + size), dtype.numpy)
    right = np.zeros_like(out)
    right[..., 2::-1] = np.moveaxis(np.indices(GRID[::-1]), 0, -1)
    right[..., 3:6] = GRID
    right[..., 6:] = np.arange(7, 7 + size)
    checks = [
        Check("program_id", out[..., :3], right[..., :3]),
        Check("num_programs", out[..., 3:6], right[..., 3:6]),
        Check("arange", out[..., 6:], right[..., 6:]),
    ]
    return Launch(locate, {"out": out, "SIZE": size}, checks, GRID)


@eas.kernel
def number_threads(out, SIZE: eas.constexpr):
    t = mk.tid(5, 5 + SIZE)
    mk.store(out, t - 5, t)
    mk.store(out, SIZE + t - 5, mk.local_id())
    mk.store(out, 2 * SIZE + t - 5, mk.lane_id())
    mk.store(out, 3 * SIZE + t - 5, mk.sg_id())


def launch_threads(dtype: DType, shape: Shape) -> Launch:
    [size] = shape
    out, threads = np.zeros((4, size), dtype.numpy), np.arange(size, dtype=dtype.numpy)
    rights = (threads + 5, threads, threads % SIMD, threads // SIMD)
    names = ("tid", "local_id", "lane_id", "sg_id")
    rows = zip(names, out, rights, strict=True)
    return Launch(number_threads, {"out": out, "SIZE": size}, [Check(*row) for row in rows])


@eas.kernel
def promise(x, out, SHAPE: eas.constexpr):
    at = offsets(SHAPE)
    v = mk.load(x, at)
    mk.assume(v == mk.multiple_of(v, 2))
    mk.store(out, at, mk.multiple_of(v, 4) // 4 + v % 4)


def launch_promises(dtype: DType, shape: Shape) -> Launch:
    size = int(np.prod(shape))
    x = values(np.random.default_rng(size), dtype, size) & ~dtype.numpy.type(3)
    out = np.zeros_like(x)
    return Launch(
        promise, {"x": x, "out": out, "SHAPE": shape}, [Check("multiple_of", out, x // 4)]
    )


INTEGERS = tuple(dtype for dtype in DTYPES.values() if dtype.is_int)
PLACED = (
    Family("program", (I32,), ((1,), (33,), (1100,)), launch_programs),
    Family("thread", (I32,), THREADS, launch_threads),
    Family("promise", INTEGERS, SHAPES, launch_promises, moves),
)
