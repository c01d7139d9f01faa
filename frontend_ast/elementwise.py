"""Ops that are computed lane by lane, choices and casts among them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from eas.frontend_ast.arithmetic import binary, is_bool, negate
from eas.frontend_ast.context import Context
from eas.frontend_ast.operands import Const, Num, Operand
from eas.frontend_ast.promote import (
    broadcast,
    common_dtype,
    common_shape,
    describe,
    materialize,
    number,
    promote,
    to_bool,
)
from eas.frontend_ast.promote import cast as convert
from eas.frontend_ast.static import static_dtype
from eas.ir.ops import OPS
from eas.ir.ops.record import OpDef, RuleError
from eas.ir.types import BOOL, DTYPES, F32, I32, U32, DType, Scalar


def elementwise(ctx: Context, op: OpDef, operands: Sequence[Operand]) -> Operand:
    """Any op of the table, on operands of one type; a function of floats takes ints too."""
    numbers = [number(ctx, operand) for operand in operands]
    dtype = common_dtype(ctx, numbers)
    if not dtype.is_float and _takes_floats_only(op):
        dtype = F32
    nums = promote(ctx, numbers, dtype)
    return Num(ctx.compute(op.name, *(n.value for n in nums)).value, nums[0].weak)


def _takes_floats_only(op: OpDef) -> bool:
    return not any(_takes(op, dtype) for dtype in (I32, U32))


def _takes(op: OpDef, dtype: DType) -> bool:
    try:
        op.typing([Scalar(dtype)] * len(op.operands), {})
    except RuleError:
        return False
    return True


def _where(ctx: Context, condition: Operand, a: Operand, b: Operand) -> Operand:
    truth = to_bool(ctx, condition)
    numbers = [number(ctx, a), number(ctx, b)]
    both_bool = all(is_bool(n) for n in numbers)
    x, y = promote(ctx, numbers, BOOL if both_bool else None)
    if isinstance(truth, Const):
        return x if truth.value else y
    shape = common_shape(ctx, [truth, x])
    values = [broadcast(ctx, n, shape).value for n in (truth, x, y)]
    return Num(ctx.compute("select", *values).value, x.weak)


def _pow(ctx: Context, a: Operand, b: Operand) -> Operand:
    return elementwise(ctx, OPS["pow"], [a, b])


def _cdiv(ctx: Context, a: Operand, b: Operand) -> Operand:
    """`a // b`, and one more where something is left over: so it rounds up for every sign."""
    numbers = [number(ctx, a), number(ctx, b)]
    for each in numbers:
        if common_dtype(ctx, [each]).is_float:
            raise ctx.refusal("E0301", f"`mk.cdiv` takes integers, not {describe(each)}", at=each)
    if isinstance(b, Const) and b.value == 0:
        raise ctx.refusal("E0701", "`mk.cdiv` by zero cannot be computed", at=b)
    if isinstance(a, Const) and isinstance(b, Const):
        return negate(ctx, binary(ctx, ast.FloorDiv(), negate(ctx, a), b))
    x, y = promote(ctx, numbers)
    lower = ctx.compute("floordiv", x.value, y.value)
    rest = ctx.compute("ne", ctx.compute("mul", lower.value, y.value).value, x.value)
    more = convert(ctx, rest, x.dtype)
    return Num(ctx.compute("add", lower.value, more.value).value, x.weak)


def to_dtype(ctx: Context, a: Operand, dtype: Operand) -> Operand:
    """`x.to(dtype)`."""
    wanted = static_dtype(ctx, dtype)
    num = number(ctx, a)
    if isinstance(num, Const) and not (isinstance(num.value, float) and wanted.is_int):
        return Num(materialize(ctx, num, wanted).value)
    if wanted.is_bool:
        truth = to_bool(ctx, num)
        return materialize(ctx, truth, BOOL)
    return convert(ctx, materialize(ctx, num), wanted)


def _bitcast(ctx: Context, a: Operand, dtype: Operand) -> Operand:
    num = materialize(ctx, number(ctx, a))
    return ctx.compute("bitcast", num.value, dtype=static_dtype(ctx, dtype))


def _cast_to(dtype: DType) -> Callable[..., Operand]:
    """`mk.to_i32` and its like."""

    def lower(ctx: Context, a: Operand) -> Operand:
        return to_dtype(ctx, a, Const(dtype))

    return lower


ELEMENTWISE: dict[str, Callable[..., Operand]] = {
    "select": _where,
    "pow": _pow,
    "cdiv": _cdiv,
    "cast": to_dtype,
    "bitcast": _bitcast,
    **{f"to_{name}": _cast_to(dtype) for name, dtype in DTYPES.items()},
}
