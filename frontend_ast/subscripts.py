"""Square brackets: elements of arrays, parts of tuples, new axes and slices of blocks."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, cast

from eas.frontend_ast import local_arrays
from eas.frontend_ast.arithmetic import binary, class_of, items_of, unknown_range
from eas.frontend_ast.collective import require_all_lanes
from eas.frontend_ast.context import Context
from eas.frontend_ast.fixes import rewrite
from eas.frontend_ast.memory import load, store
from eas.frontend_ast.name_lookup import is_known
from eas.frontend_ast.operands import (
    Array,
    ArrayPointer,
    Const,
    LocalArray,
    Num,
    Operand,
    Range,
    Tuple,
)
from eas.frontend_ast.promote import (
    Number,
    common_dtype,
    describe,
    materialize,
    number,
    promote,
    why_none,
)
from eas.frontend_ast.suggestions import indices_from
from eas.ir.types import I64, DType, Shape, count
from eas.support.close_names import close_matches
from eas.support.diagnostics import Fix
from eas.support.records import frozen


def lower_subscript(ctx: Context, node: ast.Subscript) -> Operand:
    """Elements of arrays, items of tuples, slices and new axes of blocks."""
    holder = ctx.expression(node.value)
    if isinstance(holder, Array):
        return load_element(ctx, element(ctx, holder, node.slice))
    if isinstance(holder, LocalArray):
        return local_arrays.load(ctx, holder, local_arrays.index_of(ctx, holder, node.slice))
    if isinstance(holder, Num):
        return _index_block(ctx, holder, _parts(node.slice))
    return _index_constant(ctx, holder, node.slice)


def lower_slice(ctx: Context, node: ast.Slice) -> Operand:
    """`1:n:2` with bounds that are known at compile time."""
    return Const(_static_slice(ctx, node))


@frozen
class Element:
    """An element of an array: the offset of `a[i, j]`, computed once."""

    pointer: ArrayPointer


def element(ctx: Context, array: Array, index: ast.expr) -> Element:
    """Where `array[index]` lies. An index below zero counts from the end, as in Python."""
    parts = _parts(index)
    ndim = array.ndim if array.ndim is not None else len(parts)
    for part in parts:
        _refuse_slice(ctx, array, part)
    operands = ctx.expressions(parts)
    indices = [_array_index(ctx, *each) for each in zip(parts, operands, strict=True)]
    if len(parts) != ndim:
        raise ctx.refusal(
            "E0502",
            f"`{array.name}` has {ndim} dimension{'s' * (ndim != 1)}, {len(parts)} "
            f"{'index is' if len(parts) == 1 else 'indices are'} given",
            at=index,
            help="give one index per dimension, or use `mk.load` with an offset",
        )
    offset: Operand = Const(0)
    for axis, (part, one) in enumerate(zip(parts, indices, strict=True)):
        with ctx.at(part):
            step = _step(ctx, array, axis, one)
        offset = step if axis == 0 else binary(ctx, ast.Add(), offset, step)
    assert isinstance(offset, Const | Num)
    return Element(ArrayPointer(array, offset))


def load_element(ctx: Context, where: Element) -> Operand:
    return load(ctx, where.pointer, None, None)


def store_element(ctx: Context, where: Element, value: Operand) -> None:
    store(ctx, where.pointer, value, None)


def extent(ctx: Context, array: Array, axis: int) -> Number:
    """How long an array is along an axis."""
    if array.extents is not None:
        return Const(array.extents[axis])
    return Num(ctx.hidden("extent", array, axis))


def stride(ctx: Context, array: Array, axis: int) -> Number:
    """How many elements apart neighbours along an axis are."""
    if array.extents is not None:
        return Const(count(array.extents[axis + 1 :]))
    return Num(ctx.hidden("stride", array, axis))


def _refuse_slice(ctx: Context, array: Array, part: ast.expr) -> None:
    if isinstance(part, ast.Slice):
        raise ctx.refusal(
            "E0503",
            f"`{array.name}` cannot be sliced",
            at=part,
            help=_instead_of_slice(ctx, part),
        )


def _instead_of_slice(ctx: Context, part: ast.Slice) -> Fix | str:
    indices = _indices(ctx, part)
    help = f"use a block of indices instead: `{indices}`"
    if "BLOCK" in indices and not is_known(ctx, "BLOCK"):
        return f"{help}, with a parameter `BLOCK: eas.constexpr`"
    return rewrite(help, ctx.frame.loc(part), indices)


def _indices(ctx: Context, part: ast.Slice) -> str:
    """The block of indices that a slice stands for."""
    low, high = (ctx.text(bound) if bound else "" for bound in (part.lower, part.upper))
    if _is_static(ctx, part.lower) and _is_static(ctx, part.upper):
        return f"mk.arange({low or 0}, {high or 16})"
    return indices_from(low, high) if low not in ("", "0") else "mk.arange(0, BLOCK)"


def _is_static(ctx: Context, bound: ast.expr | None) -> bool:
    return bound is None or isinstance(ctx.expression(bound), Const)


def _array_index(ctx: Context, part: ast.expr, operand: Operand) -> Number:
    with ctx.at(part):
        one = number(ctx, operand, "an index")
        if not common_dtype(ctx, [one]).is_int or (isinstance(one, Num) and one.dtype.is_bool):
            message = f"an index is an int, this is {describe(one)}"
            raise ctx.refusal("E0501", message, help=_as_index(ctx, one))
        return one


def _as_index(ctx: Context, one: Number) -> Fix | str:
    written = ctx.written_at(ctx.loc) or "x"
    help = f"make it one: `int({written})`"
    if not (isinstance(one, Num) and one.dtype.is_bool):
        help += "; a quotient that is an int is `a // b`"
    return rewrite(help, ctx.loc, f"int({written})") if written != "x" else help


def _step(ctx: Context, array: Array, axis: int, index: Number) -> Operand:
    long, far = extent(ctx, array, axis), stride(ctx, array, axis)
    if isinstance(index, Const) and isinstance(long, Const):
        return binary(ctx, ast.Mult(), _static_index(ctx, array, axis, index, long), far)
    dtype = _index_dtype(array, index)
    a, b = promote(ctx, [materialize(ctx, index, dtype), materialize(ctx, long, dtype)], dtype)
    checked = ctx.compute("index", a.value, b.value, array=array.name, axis=axis)
    return binary(ctx, ast.Mult(), checked, materialize(ctx, far, dtype))


def _index_dtype(array: Array, index: Number) -> DType:
    """Indices are computed in i32, or in i64 where they or the array's offsets need that."""
    if isinstance(index, Const):
        return array.index_dtype
    dtype = index.dtype
    is_wide = dtype.bits == 64 or (dtype.bits == 32 and dtype.is_unsigned)
    return I64 if is_wide else array.index_dtype


def _static_index(ctx: Context, array: Array, axis: int, index: Const, long: Const) -> Const:
    i, n = _int(index), _int(long)
    if not -n <= i < n:
        raise ctx.refusal(
            "E0504",
            f"index {i} is out of bounds for axis {axis} of `{array.name}`, which is {n} long",
        )
    return Const(i % n)


def _int(constant: Const) -> int:
    value: Any = constant.value
    return int(value)


def _index_block(ctx: Context, block: Num, parts: Sequence[ast.expr]) -> Operand:
    """`x[:, None]`, `x[0:4]`: new axes and static slices."""
    if not block.shape:
        raise ctx.refusal("E0505", f"{block.value.ty} is a scalar and has no elements")
    selected = [p for p in parts if not _is_new_axis(p) and not _is_ellipsis(p)]
    missing = len(block.shape) - len(selected)
    if missing < 0:
        rank = len(block.shape)
        axes = "1 axis" if rank == 1 else f"{rank} axes"
        raise ctx.refusal("E0502", f"{block.value.ty} has {axes}, {len(selected)} are indexed")
    slices = [_block_slice(ctx, part) for part in _spread(parts, missing)]
    sliced = _slice(ctx, block, [s for s in slices if s is not None])
    for axis, part in enumerate(slices):
        if part is None:
            sliced = ctx.compute("expand_dims", sliced.value, axis=axis)
    return Num(sliced.value, block.weak)


def _spread(parts: Sequence[ast.expr], missing: int) -> list[ast.expr]:
    """The parts with the axes that were left out: where `...` stands, or at the end."""
    whole: list[ast.expr] = [ast.Slice() for _ in range(missing)]
    for position, part in enumerate(parts):
        if _is_ellipsis(part):
            return [*parts[:position], *whole, *parts[position + 1 :]]
    return [*parts, *whole]


def _block_slice(ctx: Context, part: ast.expr) -> slice | None:
    if _is_new_axis(part):
        return None
    if isinstance(part, ast.Slice):
        return _static_slice(ctx, part)
    raise ctx.refusal(
        "E0506",
        "a block is indexed with slices and `None` only",
        at=part,
        help="to take one lane: `mk.sum(mk.where(mk.arange(0, n) == i, x, 0))`",
    )


def _slice(ctx: Context, block: Num, slices: Sequence[slice]) -> Num:
    ranges = [range(*s.indices(extent)) for s, extent in zip(slices, block.shape, strict=True)]
    if all(len(r) == extent and r.step > 0 for r, extent in zip(ranges, block.shape, strict=True)):
        return block
    if any(not r for r in ranges):
        raise ctx.refusal("E0507", f"this slice of {block.value.ty} is empty")
    require_all_lanes(ctx, "a slice of a block")
    starts: Shape = tuple(r.start for r in ranges)
    sizes: Shape = tuple(len(r) for r in ranges)
    steps: Shape = tuple(r.step for r in ranges)
    return ctx.compute("slice", block.value, starts=starts, sizes=sizes, steps=steps)


def _is_new_axis(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value is None


def _is_ellipsis(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value is ...


def _index_constant(ctx: Context, holder: Operand, index: ast.expr) -> Operand:
    key = ctx.expression(index)
    subscripted = _subscripted(ctx, holder)
    if not isinstance(key, Const):
        raise ctx.refusal(
            "E0704",
            f"the index into {describe(holder)} is known at run time only",
            at=index,
            help="unroll the loop with `mk.static_range`, or choose with `if`",
        )
    try:
        found: Any = subscripted[key.value]
    except (TypeError, IndexError, KeyError, ValueError) as error:
        raise ctx.refusal(
            "E0707",
            f"{describe(holder)} has no item {key.value!r}",
            at=index,
            notes=(f"Python raises {type(error).__name__}: {error}",),
            help=_other_item(ctx, subscripted, key.value, index),
        ) from error
    if not isinstance(holder, Tuple):
        return Const(found)
    return Tuple(found, class_of(holder)) if isinstance(key.value, slice) else found


def _other_item(ctx: Context, holder: Any, key: object, index: ast.expr) -> tuple[Fix, ...]:
    """The key of a dict that was likely meant."""
    is_text = isinstance(holder, dict) and isinstance(key, str)
    known = (
        [each for each in cast(dict[object, object], holder) if isinstance(each, str)]
        if is_text
        else []
    )
    close = close_matches(str(key), known)
    loc = ctx.frame.loc(index)
    return tuple(rewrite(f"did you mean `{each!r}`?", loc, repr(each)) for each in close)


def _subscripted(ctx: Context, holder: Operand) -> Any:
    """What Python takes an item of: a constant, or the operands of a tuple."""
    if isinstance(holder, Const) and holder.value is not None:
        return holder.value
    if isinstance(holder, Range):
        if holder.known is None:
            raise unknown_range(ctx, holder)
        return holder.known
    items = items_of(holder)
    if items is None:
        message, help = f"{describe(holder)} cannot be subscripted", why_none(ctx, holder)
        raise ctx.refusal("E0508", message, at=holder, help=help)
    return items


def _static_slice(ctx: Context, node: ast.Slice) -> slice:
    bounds = [_static_int(ctx, part) for part in (node.lower, node.upper, node.step)]
    return slice(*bounds)


def _static_int(ctx: Context, node: ast.expr | None) -> int | None:
    if node is None:
        return None
    operand = ctx.expression(node)
    if isinstance(operand, Const) and (operand.value is None or type(operand.value) is int):
        return operand.value
    raise ctx.refusal(
        "E0705",
        f"the bound of a slice must be known at compile time, this is {describe(operand)}",
        at=node,
        help="use a constexpr, or a mask: `mk.where(i < n, x, 0)`",
    )


def _parts(index: ast.expr) -> list[ast.expr]:
    return list(index.elts) if isinstance(index, ast.Tuple) else [index]
