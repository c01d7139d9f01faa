"""`dot`: the product of two blocks of matrices."""

from __future__ import annotations

from collections.abc import Callable

from eas.frontend_ast.collective import require_all_lanes
from eas.frontend_ast.context import Context
from eas.frontend_ast.promote import broadcast, cast, common_dtype, describe
from eas.frontend_ast.static import runtime_number
from eas.frontend_ast.values import NONE, Const, Num, Operand
from eas.ir.types import F32

# How far factors of f32 may be rounded; they never are.
_PRECISIONS = ("ieee", "tf32", "tf32x3")
_EXACT = Const("ieee")


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
    dtype = common_dtype(ctx, [x, y])
    if not dtype.is_float:
        raise ctx.refusal(
            "E0301",
            f"`mk.dot` takes floats, these are {describe(x)} and {describe(y)}",
            help="convert them: `.to(mk.f16)` holds integers up to 2048 exactly",
        )
    left, right = cast(ctx, x, dtype), cast(ctx, y, dtype)
    shape = (*x.shape[:-1], y.shape[-1])
    if acc == NONE:
        total = broadcast(ctx, Num(ctx.build.constant(0, F32)), shape)
    else:
        total = broadcast(ctx, runtime_number(ctx, acc), shape)
    return ctx.compute("dot", left.value, right.value, total.value)


MATRICES: dict[str, Callable[..., Operand]] = {"dot": _dot}
