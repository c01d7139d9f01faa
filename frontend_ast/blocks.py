"""Blocks that are made, and blocks in another shape: `zeros`, `reshape`, `trans` and their like."""

from __future__ import annotations

from collections.abc import Callable

from eas.frontend_ast.collective import require_all_lanes
from eas.frontend_ast.context import Context
from eas.frontend_ast.operands import Const, Num, Operand
from eas.frontend_ast.promote import broadcast, describe, fitting_shape, materialize, number
from eas.frontend_ast.static import (
    runtime_number,
    static_dtype,
    static_int,
    static_ints,
    static_shape,
)
from eas.ir.types import F32, count

FLOAT = Const(F32)


def _zeros(ctx: Context, shape: Operand, dtype: Operand = FLOAT) -> Operand:
    return _full(ctx, shape, Const(0), dtype)


def _full(ctx: Context, shape: Operand, value: Operand, dtype: Operand = FLOAT) -> Operand:
    wanted = static_dtype(ctx, dtype)
    filled = materialize(ctx, number(ctx, value), wanted)
    return Num(broadcast(ctx, filled, static_shape(ctx, shape)).value)


def _zeros_like(ctx: Context, a: Operand) -> Operand:
    return _full_like(ctx, a, Const(0))


def _full_like(ctx: Context, a: Operand, value: Operand) -> Operand:
    num = runtime_number(ctx, a)
    filled = materialize(ctx, number(ctx, value), num.dtype)
    return Num(broadcast(ctx, filled, num.shape).value)


def _reshape(ctx: Context, a: Operand, shape: Operand) -> Operand:
    num, new = runtime_number(ctx, a), static_shape(ctx, shape)
    if num.shape == new:
        return num
    if count(num.shape) != count(new):
        raise ctx.refusal(
            "E0516",
            f"{describe(num)} has {count(num.shape)} elements, {list(new)} has {count(new)}",
            at=shape,
            help="a reshape keeps all elements, in their order",
        )
    require_all_lanes(ctx, "`mk.reshape`")
    return ctx.compute("reshape", num.value, shape=new)


def _ravel(ctx: Context, a: Operand) -> Operand:
    num = runtime_number(ctx, a)
    return _reshape(ctx, num, Const((count(num.shape),)))


def _expand_dims(ctx: Context, a: Operand, axis: Operand) -> Operand:
    num = runtime_number(ctx, a)
    place = static_int(ctx, axis, "the axis")
    rank = len(num.shape) + 1
    if not -rank <= place < rank:
        raise ctx.refusal("E0511", f"{describe(num)} has no place for an axis {place}", at=axis)
    return ctx.compute("expand_dims", num.value, axis=place % rank)


def _broadcast_to(ctx: Context, a: Operand, shape: Operand) -> Operand:
    num, new = materialize(ctx, number(ctx, a)), static_shape(ctx, shape)
    if fitting_shape(num.shape, new) != new:
        raise ctx.refusal(
            "E0304",
            f"{describe(num)} cannot be broadcast to {list(new)}",
            at=shape,
            help="only extents of 1 grow, and new axes come in front: `x[:, None]`, `x[None, :]`",
        )
    return Num(broadcast(ctx, num, new).value)


def _trans(ctx: Context, a: Operand) -> Operand:
    num = runtime_number(ctx, a)
    if len(num.shape) != 2:
        raise ctx.refusal(
            "E0513",
            f"`mk.trans` takes a block of 2 axes, not {describe(num)}",
            at=a,
            help="use `mk.permute`, which takes the order of the axes",
        )
    return _permute(ctx, num, Const((1, 0)))


def _permute(ctx: Context, a: Operand, axes: Operand) -> Operand:
    num = runtime_number(ctx, a)
    rank = len(num.shape)
    given = static_ints(ctx, axes, "the axes")
    order = tuple(axis + rank if axis < 0 else axis for axis in given)
    if sorted(order) != list(range(rank)):
        words = f"{list(given)} is no order of the {rank} axes of {describe(num)}"
        raise ctx.refusal("E0511", words, at=axes)
    require_all_lanes(ctx, "`mk.permute`")
    return ctx.compute("permute", num.value, axes=order)


BLOCKS: dict[str, Callable[..., Operand]] = {
    "zeros": _zeros,
    "full": _full,
    "zeros_like": _zeros_like,
    "full_like": _full_like,
    "reshape": _reshape,
    "ravel": _ravel,
    "expand_dims": _expand_dims,
    "broadcast_to": _broadcast_to,
    "trans": _trans,
    "permute": _permute,
}
