"""Block pointers: a tile of an array, with its offsets, its strides and the array's bounds."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from eas.frontend_ast import memory
from eas.frontend_ast.arithmetic import binary, items_of
from eas.frontend_ast.context import Context
from eas.frontend_ast.number_forms import as_array_pointer
from eas.frontend_ast.operands import NONE, Array, ArrayPointer, Const, Num, Operand, Tuple
from eas.frontend_ast.promote import (
    Number,
    add,
    broadcast,
    common_dtype,
    describe,
    number,
    promote,
    widen,
)
from eas.frontend_ast.static import static_ints, static_shape
from eas.ir.types import Shape
from eas.support.records import frozen


@frozen
class BlockPointer:
    """The class of block pointers in a kernel: what it has as fields can be read there."""

    base: object
    shape: tuple[object, ...]
    strides: tuple[object, ...]
    offsets: tuple[object, ...]
    block_shape: tuple[int, ...]


_FIELDS = ("base", "shape", "strides", "offsets", "block_shape")


def is_block_pointer(operand: Operand) -> bool:
    return isinstance(operand, Tuple) and operand.make is BlockPointer


def _make(
    ctx: Context,
    base: Operand,
    shape: Operand,
    strides: Operand,
    offsets: Operand,
    block_shape: Operand,
    order: Operand = NONE,
) -> Operand:
    if not isinstance(base, Array | ArrayPointer):
        raise ctx.refusal("E0509", f"an array is needed, this is {describe(base)}", at=base)
    block = static_shape(ctx, block_shape)
    parts = [_integers(ctx, each, len(block)) for each in (shape, strides, offsets)]
    _check_order(ctx, order, len(block))
    return Tuple((base, *parts, Const(block)), BlockPointer, _FIELDS)


def _check_order(ctx: Context, order: Operand, rank: int) -> None:
    """Which axis is the densest in memory: the strides say it too, so it only has to make sense."""
    if order == NONE:
        return
    given = static_ints(ctx, order, "the order of the axes")
    if sorted(given) != list(range(rank)):
        raise ctx.refusal("E0511", f"{list(given)} is no order of {rank} axes", at=order)


def _integers(ctx: Context, operand: Operand, rank: int) -> Tuple:
    items = items_of(operand) or (operand,)
    if len(items) != rank:
        raise ctx.refusal(
            "E0502",
            f"one number for each of the {rank} axes is needed, not {len(items)}",
            at=operand,
        )
    return Tuple(tuple(_integer(ctx, item) for item in items))


def _integer(ctx: Context, operand: Operand) -> Number:
    """One number of a block pointer: of the whole tile, not of each lane."""
    found = number(ctx, operand, "an int")
    is_block = isinstance(found, Num) and bool(found.shape)
    if is_block or not common_dtype(ctx, [found]).is_int:
        raise ctx.refusal(
            "E0501",
            f"a block pointer takes one int for each axis, this is {describe(found)}",
            at=operand,
            help="give the offset of its first element, `p * BLOCK`: the tile has a shape already"
            if is_block
            else (),
        )
    return found


def _advance(ctx: Context, ptr: Operand, offsets: Operand) -> Operand:
    base, shape, strides, old, block = _parts(ctx, ptr)
    steps = _integers(ctx, offsets, len(_items(old)))
    moved: list[Operand] = []
    for offset, step in zip(_items(old), steps.items, strict=True):
        moved.append(binary(ctx, ast.Add(), number(ctx, offset), number(ctx, step)))
    return Tuple((base, shape, strides, Tuple(tuple(moved)), block), BlockPointer, _FIELDS)


def _parts(ctx: Context, ptr: Operand) -> tuple[Operand, ...]:
    if not isinstance(ptr, Tuple) or ptr.make is not BlockPointer:
        raise ctx.refusal(
            "E0509",
            f"a block pointer is needed, this is {describe(ptr)}",
            at=ptr,
            help="make one with `mk.make_block_ptr`",
        )
    return ptr.items


def _items(operand: Operand) -> tuple[Operand, ...]:
    items = items_of(operand)
    assert items is not None
    return items


def load(ctx: Context, ptr: Operand, boundary_check: Operand, padding: Operand) -> Operand:
    array, at, mask = _access(ctx, ptr, boundary_check)
    value = padding.value if isinstance(padding, Const) else None
    if value not in ("zero", "nan"):
        raise ctx.refusal(
            "E0705", f'the padding is "zero" or "nan", not {describe(padding)}', at=padding
        )
    other = Const(math.nan) if value == "nan" else None
    return memory.load(ctx, array, mask, other, at)


def store(ctx: Context, ptr: Operand, value: Operand, boundary_check: Operand) -> None:
    array, at, mask = _access(ctx, ptr, boundary_check)
    memory.store(ctx, array, value, mask, at)


def _access(ctx: Context, ptr: Operand, boundary_check: Operand) -> tuple[Operand, Num, Num | None]:
    """The array, the offset of each element, and which of them are inside."""
    base, shape, strides, offsets, block_shape = _parts(ctx, ptr)
    assert isinstance(block_shape, Const)
    array = as_array_pointer(base).array
    block = static_shape(ctx, block_shape)
    checked = _checked_axes(ctx, boundary_check, len(block))
    total: Num | None = None
    mask: Num | None = None
    rows = zip(_items(shape), _items(strides), _items(offsets), strict=True)
    for axis, (extent, stride, offset) in enumerate(rows):
        indices = _along(ctx, array, axis, block, number(ctx, offset))
        step = _product(ctx, indices, stride)
        total = step if total is None else add(ctx, total, step)
        if axis in checked:
            inside = _inside(ctx, indices, extent)
            mask = inside if mask is None else _both(ctx, mask, inside)
    assert total is not None
    return base, broadcast(ctx, total, block), mask


def _checked_axes(ctx: Context, boundary_check: Operand, rank: int) -> set[int]:
    axes = static_ints(ctx, boundary_check, "an axis")
    for axis in axes:
        if not -rank <= axis < rank:
            message = f"a block of {rank} {'axis' if rank == 1 else 'axes'} has no axis {axis}"
            raise ctx.refusal("E0511", message, at=boundary_check)
    return {axis % rank for axis in axes}


def _along(ctx: Context, array: Array, axis: int, block: Shape, offset: Number) -> Num:
    """The indices along an axis, as a block of the full rank."""
    row = ctx.compute("arange", start=0, size=block[axis])
    for other in range(len(block)):
        if other != axis:
            row = ctx.compute("expand_dims", row.value, axis=other)
    return add(ctx, widen(ctx, array, row), offset)


def _product(ctx: Context, indices: Num, stride: Operand) -> Num:
    x, y = promote(ctx, [indices, number(ctx, stride)])
    return ctx.compute("mul", x.value, y.value)


def _inside(ctx: Context, indices: Num, extent: Operand) -> Num:
    x, y = promote(ctx, [indices, number(ctx, extent)])
    below = ctx.compute("lt", x.value, y.value)
    zero = broadcast(ctx, Num(ctx.build.constant(0, indices.dtype)), indices.shape)
    return ctx.compute("and", ctx.compute("ge", indices.value, zero.value).value, below.value)


def _both(ctx: Context, a: Num, b: Num) -> Num:
    shape = ctx.cover(a.shape, b.shape)
    return ctx.compute("and", *(broadcast(ctx, n, shape).value for n in (a, b)))


BLOCK_POINTERS: dict[str, Callable[..., Operand]] = {"make_block_ptr": _make, "advance": _advance}
