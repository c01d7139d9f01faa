"""Products of matrices. Floats are multiplied as they are, and added up in f32, f64 in f64."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eas.ir.ops.record import Array, Attrs, OpDef, RuleError
from eas.ir.ops.typing_rules import dtype_of
from eas.ir.types import BF16, F16, F32, F64, Block, DType, Type, shape_of

FACTORS = (F16, BF16, F32, F64)


def sum_dtype(factors: DType) -> DType:
    """The dtype that the products of two factors of this dtype are added up in."""
    return F64 if factors == F64 else F32


def _dot_type(operands: Sequence[Type], attrs: Attrs) -> Type:
    del attrs
    a, b, acc = operands
    x, y = shape_of(a), shape_of(b)
    if not 2 <= len(x) <= 3 or len(x) != len(y) or x[:-2] != y[:-2]:
        raise RuleError(f"takes matrices, or two batches of as many, not {a} and {b}")
    if x[-1] != y[-2]:
        raise RuleError(
            f"multiplies [m, k] by [k, n], not {a} by {b}: k is {x[-1]} and {y[-2]}",
            "transpose one of them: `mk.trans(b)`",
        )
    if dtype_of(a) != dtype_of(b) or dtype_of(a) not in FACTORS:
        raise RuleError(f"takes f16, bf16, f32 or f64, the same on both sides, not {a} and {b}")
    result = Block(sum_dtype(dtype_of(a)), (*x[:-1], y[-1]))
    if acc != result:
        raise RuleError(f"adds to {result}, not to {acc}")
    return result


def _dot(a: Array, b: Array, acc: Array) -> Array:
    return np.matmul(a.astype(acc.dtype), b.astype(acc.dtype)) + acc


MATRIX = (
    OpDef(
        "dot",
        ("a", "b", "acc"),
        _dot_type,
        _dot,
        "acc plus the product of the matrices a and b, or of each two of a batch",
        elementwise=False,
        collective=True,
    ),
)
