"""What kernels say: prints of every dtype, and asserts that hold or fail."""

from __future__ import annotations

import numpy as np

import eas
from eas import mk
from eas.ir.types import DTYPES, DType
from tests.ops.shapes import SHAPES, Shape, moves, offsets
from tests.ops.table.casts import hard_numbers
from tests.ops.table.family import Family, Launch
from tests.ops.table.operands import Array, values


@eas.kernel
def print_elements(x, SHAPE: eas.constexpr):
    v = mk.load(x, offsets(SHAPE))
    print("here is", v, "and", v == v)


def launch_prints(dtype: DType, shape: Shape) -> Launch:
    """Each lane prints a line, as NumPy writes the number."""
    x = drawn(dtype, shape)
    text = "".join(f"here is {v!s} and {v == v}\n" for v in x)
    return Launch(print_elements, {"x": x, "SHAPE": shape}, [], text=text)


@eas.kernel
def insist(x, y, SHAPE: eas.constexpr):
    at = offsets(SHAPE)
    v = mk.load(x, at)
    assert v == v, "equal to itself"
    assert mk.load(y, at) != v, "different"


def launch_asserts(dtype: DType, shape: Shape) -> Launch:
    """The second one fails in the last lane."""
    x = values(np.random.default_rng(0), dtype, int(np.prod(shape)))
    x = np.where(x == x, x, dtype.numpy.type(0))
    y = (x == 0).astype(dtype.numpy)
    y[-1] = x[-1]
    return Launch(
        insist, {"x": x, "y": y, "SHAPE": shape}, [], failure="assertion failed: different"
    )


def drawn(dtype: DType, shape: Shape) -> Array:
    random, size = np.random.default_rng(0), int(np.prod(shape))
    return np.concatenate([random.permutation(hard_numbers(dtype)), values(random, dtype, size)])[
        :size
    ]


ALL = tuple(DTYPES.values())
REPORTED = (
    Family("print", ALL, SHAPES, launch_prints, moves),
    Family("assert", ALL, SHAPES, launch_asserts, moves),
)
