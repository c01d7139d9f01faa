"""Blocks made of others: `cat`, `join`, `split`, `flip`."""

from __future__ import annotations

from collections.abc import Callable

from eas.frontend_ast.collective import require_all_lanes
from eas.frontend_ast.context import Context
from eas.frontend_ast.operands import NONE, ZERO, Num, Operand, Tuple
from eas.frontend_ast.promote import broadcast, cast, common_dtype, common_shape, describe
from eas.frontend_ast.reductions import flip_axis
from eas.frontend_ast.static import runtime_number, static_axis
from eas.ir.types import BOOL, Shape


def _flip(ctx: Context, a: Operand, axis: Operand = NONE) -> Operand:
    num = runtime_number(ctx, a)
    if not num.shape:
        raise ctx.refusal("E0302", f"`mk.flip` takes a block, this is {describe(num)}", at=a)
    if axis == NONE and len(num.shape) > 1:
        raise ctx.refusal(
            "E0413",
            f"along which axis is {describe(num)} flipped?",
            help=f"say it: `axis={len(num.shape) - 1}`",
        )
    require_all_lanes(ctx, "`mk.flip`")
    return flip_axis(ctx, num, 0 if axis == NONE else static_axis(ctx, axis, num))


def _cat(ctx: Context, a: Operand, b: Operand, axis: Operand = ZERO) -> Operand:
    """Both go on over and over along the axis, and each lane takes the one that it belongs to."""
    x, y = _alike(ctx, a, b)
    require_all_lanes(ctx, "`mk.cat`")
    place = static_axis(ctx, axis, x)
    rest = [num.shape[:place] + num.shape[place + 1 :] for num in (x, y)]
    if rest[0] != rest[1] or len(x.shape) != len(y.shape):
        raise ctx.refusal(
            "E0304",
            f"{describe(x)} and {describe(y)} differ in another axis than {place}",
            at=b,
        )
    first, second = x.shape[place], y.shape[place]
    size = first + second
    left = ctx.compute("cycle", x.value, axis=place, start=0, size=size)
    right = ctx.compute("cycle", y.value, axis=place, start=-first % second, size=size)
    return _choose(ctx, left, right, place, first)


def _join(ctx: Context, a: Operand, b: Operand) -> Operand:
    """A new last axis of extent 2."""
    x, y = _alike(ctx, a, b)
    shape = common_shape(ctx, [x, y])
    require_all_lanes(ctx, "`mk.join`")
    pair: list[Num] = []
    for num in (x, y):
        wide = broadcast(ctx, num, shape)
        added = ctx.compute("expand_dims", wide.value, axis=len(shape))
        pair.append(broadcast(ctx, added, (*shape, 2)))
    return _choose(ctx, pair[0], pair[1], len(shape), 1)


def _split(ctx: Context, a: Operand) -> Operand:
    num = runtime_number(ctx, a)
    if len(num.shape) < 2 or num.shape[-1] != 2:
        raise ctx.refusal(
            "E0511",
            f"`mk.split` takes a block whose last axis has the extent 2, not {describe(num)}",
            at=a,
            help="reshape it before: `mk.reshape(x, (n, 2))`",
        )
    require_all_lanes(ctx, "`mk.split`")
    shape = num.shape[:-1]
    ones = tuple(1 for _ in num.shape)
    halves: list[Num] = []
    for which in (0, 1):
        starts: Shape = (*(0 for _ in shape), which)
        part = ctx.compute("slice", num.value, starts=starts, sizes=(*shape, 1), steps=ones)
        halves.append(ctx.compute("reshape", part.value, shape=shape))
    return Tuple(tuple(halves))


def _alike(ctx: Context, a: Operand, b: Operand) -> tuple[Num, Num]:
    """Two blocks of one dtype, each in its own shape."""
    nums = [runtime_number(ctx, each) for each in (a, b)]
    if all(num.dtype == BOOL for num in nums):
        return nums[0], nums[1]
    dtype = common_dtype(ctx, nums)
    x, y = (cast(ctx, num, dtype) for num in nums)
    return x, y


def _choose(ctx: Context, a: Num, b: Num, place: int, first: int) -> Num:
    """`a` in the lanes whose number along an axis is below `first`, `b` in the others."""
    shape = a.shape
    along = ctx.compute("arange", start=0, size=shape[place])
    for axis in range(len(shape)):
        if axis != place:
            along = ctx.compute("expand_dims", along.value, axis=axis)
    limit = broadcast(ctx, Num(ctx.build.constant(first, along.dtype)), along.shape)
    condition = ctx.compute("lt", along.value, limit.value)
    chosen = broadcast(ctx, condition, shape)
    return ctx.compute("select", chosen.value, a.value, b.value)


SHAPES: dict[str, Callable[..., Operand]] = {
    "flip": _flip,
    "cat": _cat,
    "join": _join,
    "split": _split,
}
