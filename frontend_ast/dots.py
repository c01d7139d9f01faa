"""`dot`: the product of two blocks of matrices."""

from __future__ import annotations

import ast
from collections.abc import Callable

from eas.frontend_ast.arithmetic import binary
from eas.frontend_ast.collective import require_all_lanes
from eas.frontend_ast.context import Context
from eas.frontend_ast.operands import NONE, Const, Num, Operand
from eas.frontend_ast.promote import broadcast, cast, common_dtype, describe, fitting_shape
from eas.frontend_ast.static import runtime_number
from eas.ir.ops.matrix import sum_dtype
from eas.ir.types import F16, F32, I8, I32, U8, DType

# How far factors of f32 may be rounded; they never are.
_PRECISIONS = ("ieee", "tf32", "tf32x3")
_EXACT = Const("ieee")
_MOST_IN_F32 = 2**24  # all integers up to here are floats


def _dot(
    ctx: Context,
    a: Operand,
    b: Operand,
    acc: Operand = NONE,
    input_precision: Operand = _EXACT,
) -> Operand:
    if not isinstance(input_precision, Const) or input_precision.value not in _PRECISIONS:
        known = " or ".join(f'"{value}"' for value in _PRECISIONS)
        raise ctx.refusal(
            "E0705",
            f"the precision is at least {known}, not {describe(input_precision)}",
            at=input_precision,
            help="leave it out: factors are never rounded",
        )
    x, y = (runtime_number(ctx, each) for each in (a, b))
    for num, operand in ((x, a), (y, b)):
        if not 2 <= len(num.shape) <= 3:
            raise ctx.refusal(
                "E0301",
                f"`mk.dot` takes blocks of 2 or 3 axes, this is {describe(num)}",
                at=operand,
                help="add an axis: `x[None, :]`",
            )
    require_all_lanes(ctx, "`mk.dot`")
    if {x.dtype, y.dtype} <= {I8, U8}:
        return _dot_of_bytes(ctx, x, y, acc)
    dtype = common_dtype(ctx, [x, y])
    if not dtype.is_float:
        raise ctx.refusal(
            "E0301",
            f"`mk.dot` takes floats, i8 or u8, these are {describe(x)} and {describe(y)}",
            help="convert them: `.to(mk.f16)` holds integers up to 2048 exactly",
        )
    return _product(ctx, x, y, dtype, None if acc == NONE else runtime_number(ctx, acc))


def _product(ctx: Context, x: Num, y: Num, dtype: DType, acc: Num | None) -> Num:
    left, right = cast(ctx, x, dtype), cast(ctx, y, dtype)
    wanted = sum_dtype(dtype)
    total = acc or Num(ctx.build.constant(0, wanted))
    if total.dtype == F32 != wanted:
        total = cast(ctx, total, wanted)
    shape = (*x.shape[:-1], y.shape[-1])
    is_factor = x.shape[-1] == y.shape[-2]
    if is_factor and fitting_shape(total.shape, shape) == shape:  # else the op refuses it
        total = broadcast(ctx, total, shape)
    return ctx.compute("dot", left.value, right.value, total.value)


def _dot_of_bytes(ctx: Context, x: Num, y: Num, acc: Operand) -> Operand:
    """A product in f16 and f32, which is exact for so few bytes; only its sum goes on in i32."""
    largest = _largest(x.dtype) * _largest(y.dtype)
    if x.shape[-1] * largest > _MOST_IN_F32:
        raise ctx.refusal(
            "E0301",
            f"`mk.dot` takes at most {_MOST_IN_F32 // largest} columns of {x.dtype} and rows of "
            f"{y.dtype}, these are {describe(x)} and {describe(y)}",
            help="use smaller blocks, and add up their products",
        )
    product = cast(ctx, _product(ctx, x, y, F16, None), I32)
    return product if acc == NONE else binary(ctx, ast.Add(), product, acc)


def _largest(dtype: DType) -> int:
    return max(-dtype.min, dtype.max)


MATRICES: dict[str, Callable[..., Operand]] = {"dot": _dot}
