"""Loads, stores and atomics: how offsets, masks and values are brought to one shape."""

from __future__ import annotations

from collections.abc import Sequence

from eas.frontend_ast.context import Context
from eas.frontend_ast.fixes import compared, converted
from eas.frontend_ast.number_forms import as_array_pointer
from eas.frontend_ast.operands import Array, ArrayPointer, Const, LocalArray, Num, Operand
from eas.frontend_ast.promote import (
    Number,
    broadcast,
    common_dtype,
    common_shape,
    constant_dtype,
    describe,
    materialize,
    number,
    promote,
    to_bool,
    why_none,
    widen,
)
from eas.ir.nodes import AtomicKind, Value
from eas.ir.types import BOOL, DType, Shape
from eas.support.diagnostics import Fix
from eas.support.location import Loc


def load(
    ctx: Context,
    where: Operand,
    mask: Operand | None,
    other: Operand | None,
    offs: Operand | None = None,
) -> Num:
    array, offset = address_of(ctx, where, offs)
    guard = _mask(ctx, mask)
    fill = Const(0) if other is None else number(ctx, other, "a value for `other`")
    shape = _shape(ctx, [offset, guard] if guard is None else [offset, guard, fill])
    at = broadcast(ctx, offset, shape).value
    if guard is None:
        return Num(ctx.build.load(array.pointer, at))
    masked = broadcast(ctx, guard, shape).value
    filled = broadcast(ctx, as_element(ctx, array, fill), shape).value
    return Num(ctx.build.load(array.pointer, at, masked, filled))


def store(
    ctx: Context, where: Operand, value: Operand, mask: Operand | None, offs: Operand | None = None
) -> None:
    array, offset = address_of(ctx, where, offs)
    stored = as_element(ctx, array, number(ctx, value, "a number to store"))
    guard = _mask(ctx, mask)
    shape = _shape(ctx, [offset, stored, guard])
    if offset.shape and len(offset.shape) < len(shape):
        raise _several_values(ctx, offset, shape)
    shape = ctx.cover(shape, ctx.thread_shape())
    at, new = broadcast(ctx, offset, shape), broadcast(ctx, stored, shape)
    masked = None if guard is None else broadcast(ctx, guard, shape).value
    ctx.build.store(array.pointer, at.value, new.value, masked)


def _several_values(ctx: Context, offset: Num, shape: Shape) -> Exception:
    return ctx.refusal(
        "E0304",
        f"a block of {list(shape)} does not fit offsets of {list(offset.shape)}",
        at=offset,
        notes=("several values would go to one element, and which one stays there is not certain",),
        help="give each lane its own offset: `rows[:, None] * WIDTH + columns`",
    )


def atomic(
    ctx: Context,
    kind: AtomicKind,
    where: Operand,
    offs: Operand | None,
    value: Operand,
    mask: Operand | None,
    expected: Operand | None = None,
) -> Num:
    """Once per lane or thread that gets here: the operands are spread over all of them."""
    array, offset = address_of(ctx, where, offs)
    _check_updated(ctx, kind, where, array)
    new = as_element(ctx, array, number(ctx, value))
    old = None if expected is None else as_element(ctx, array, number(ctx, expected))
    guard = _mask(ctx, mask)
    shape = ctx.cover(_shape(ctx, [offset, new, old, guard]), ctx.split_shape())
    shape = ctx.cover(shape, ctx.thread_shape())

    def spread(num: Num | None) -> Value | None:
        return None if num is None else broadcast(ctx, num, shape).value

    at, change = broadcast(ctx, offset, shape).value, broadcast(ctx, new, shape).value
    return Num(ctx.build.atomic(kind, array.pointer, at, change, spread(guard), spread(old)))


def _check_updated(ctx: Context, kind: AtomicKind, where: Operand, array: Array) -> None:
    """Refuses numbers that an atomic does not combine, and bools, of which no GPU has atomics."""
    if array.dtype.is_int or (array.dtype.is_float and kind not in ("and", "or", "xor")):
        return
    wanted = "integers" if array.dtype.is_float else "numbers"
    instead = "of ints of the same width, and `mk.bitcast` where it is read"
    raise ctx.refusal(
        "E0301",
        f"`mk.atomic_{kind}` takes {wanted}, `{array.name}` holds {array.dtype}",
        at=where,
        help=f"use an array {instead if array.dtype.is_float else 'of i32 with 0 and 1'}",
    )


def address_of(ctx: Context, where: Operand, offs: Operand | None) -> tuple[Array, Num]:
    """The array and the offset that a pointer and an offset name together."""
    if not isinstance(where, Array | ArrayPointer):
        raise ctx.refusal(
            "E0509",
            f"an array is needed, this is {describe(where)}",
            at=where,
            help=why_none(ctx, where)
            or "pass an array argument of the kernel, or `array + offset`",
        )
    pointer = as_array_pointer(where)
    numbers: list[Number] = (
        [] if isinstance(where, Array) and offs is not None else [pointer.offset]
    )
    if offs is not None:
        numbers.append(number(ctx, offs, "an offset"))
    for each in numbers:
        if not common_dtype(ctx, [each]).is_int or (isinstance(each, Num) and each.dtype.is_bool):
            raise ctx.refusal(
                "E0501",
                f"an offset counts elements: it is an int, not {describe(each)}",
                at=each,
                help=_suggest_offset(where),
            )
    nums = promote(ctx, [widen(ctx, pointer.array, each) for each in numbers])
    total = nums[0] if len(nums) == 1 else ctx.compute("add", nums[0].value, nums[1].value)
    return pointer.array, total


def _suggest_offset(where: Array | ArrayPointer) -> str:
    if isinstance(where, ArrayPointer):
        return "the pointer has offsets: if this is none, give it by name, such as `other=...`"
    return "convert it: `.to(mk.i32)`"


def _shape(ctx: Context, numbers: Sequence[Number | None]) -> Shape:
    shape = common_shape(ctx, [n for n in numbers if n is not None])
    ctx.check_lanes(shape)
    return shape


def _mask(ctx: Context, mask: Operand | None) -> Num | None:
    if mask is None or (isinstance(mask, Const) and (mask.value is None or mask.value is True)):
        return None
    num = number(ctx, mask, "a mask")
    dtype = num.dtype if isinstance(num, Num) else constant_dtype(ctx, num)
    if not dtype.is_bool:
        not_zero = f"!= {'0.0' if dtype.is_float else '0'}"
        raise ctx.refusal(
            "E0301",
            f"a mask says yes or no, this is {describe(num)}",
            at=num,
            help="write `True` or `False`"
            if isinstance(num, Const)
            else compared(ctx, num, not_zero, "; what lanes without memory get is `other`"),
        )
    return materialize(ctx, num, BOOL)


def _roundings(ctx: Context, loc: Loc, dtype: DType) -> Fix | str:
    help = f"say how to round: `mk.floor(x).to(mk.{dtype})` or `x.to(mk.{dtype})`"
    return converted(ctx, help, loc, dtype, "mk.floor")


def as_element(ctx: Context, array: Array | LocalArray, value: Number) -> Num:
    """A value as the array stores it. A float is not cut down to an int silently."""
    dtype = array.dtype
    own = common_dtype(ctx, [value])
    if own.is_float and not dtype.is_float:
        raise ctx.refusal(
            "E0510",
            f"{describe(value)} does not fit `{array.name}`, whose elements are {dtype}",
            at=value,
            help=_roundings(ctx, ctx.place(value), dtype),
        )
    if isinstance(value, Num) and dtype.is_bool and not value.dtype.is_bool:
        return _checked_bool(ctx, value)
    return materialize(ctx, value, dtype)


def _checked_bool(ctx: Context, value: Num) -> Num:
    truth = to_bool(ctx, value)
    assert isinstance(truth, Num)
    return truth
