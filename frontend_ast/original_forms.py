"""The functions of `mk` in the order of arguments that the first easy_as had.

`mma`, `mma_store` and `dot` take both orders. Which one is meant, the arguments say: the names of
their parameters, how many they are, or what the first one is. Where that is not clear, the call is
refused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from eas.frontend_ast import memory
from eas.frontend_ast.arithmetic import binary, combine_bools, items_of, negate_truth
from eas.frontend_ast.call_binding import Given, argument
from eas.frontend_ast.context import Context
from eas.frontend_ast.number_forms import as_array_pointer
from eas.frontend_ast.operands import Array, ArrayPointer, Const, Num, Operand
from eas.frontend_ast.promote import (
    broadcast,
    cast,
    common_dtype,
    describe,
    materialize,
    number,
    promote,
    to_bool,
    widen,
)
from eas.frontend_ast.simdgroup_matrices import FRAGMENTS
from eas.ir.builder import region
from eas.ir.nodes import For, Op, Yield
from eas.ir.ops.matrix import sum_dtype
from eas.support.records import frozen


def _mma(
    ctx: Context,
    a: Operand,
    a_base: Operand,
    a_stride: Operand,
    b: Operand,
    b_base: Operand,
    b_stride: Operand,
    acc: Operand,
) -> Operand:
    return FRAGMENTS["mma"](ctx, acc, a, a_base, b, b_base, a_stride, b_stride)


def _mma_store(
    ctx: Context, buffer: Operand, base: Operand, stride: Operand, fragment: Operand
) -> Operand:
    return FRAGMENTS["mma_store"](ctx, fragment, buffer, base, stride)


def _dot(
    ctx: Context,
    a: Operand,
    a_base: Operand,
    a_stride: Operand,
    b: Operand,
    b_base: Operand,
    b_stride: Operand,
    K: Operand,
) -> Operand:
    """The sum of `a[a_base + k * a_stride] * b[b_base + k * b_stride]`, for each lane its own."""
    count = _length(ctx, K)
    counter, body = ctx.build.value(count.value.ty, "k"), list[Op]()
    with ctx.into(body):
        factors = [
            _element(ctx, each, base, stride, Num(counter))
            for each, base, stride in ((a, a_base, a_stride), (b, b_base, b_stride))
        ]
        dtype = common_dtype(ctx, factors)
        wanted = sum_dtype(dtype) if dtype.is_float else dtype
        x, y = promote(ctx, [cast(ctx, each, wanted) for each in factors])
        product = ctx.compute("mul", x.value, y.value)
        before = ctx.build.value(product.value.ty, "total")
        after = ctx.compute("add", before, product.value)
        ctx.build.emit(Yield((after.value,), ctx.loc))
    zero = broadcast(ctx, Num(ctx.build.constant(0, wanted)), product.shape).value
    start, step = (ctx.build.constant(each, count.dtype) for each in (0, 1))
    result, last = (ctx.build.value(product.value.ty, "total") for _ in range(2))
    ctx.build.emit(
        For(
            *(start, count.value, step, (zero,)),
            region(body, (counter, before)),
            region([Yield((last,), ctx.loc)], (last,)),
            (result,),
            ctx.loc,
        )
    )
    return Num(result)


def _length(ctx: Context, K: Operand) -> Num:
    count = materialize(ctx, number(ctx, K, "a length"))
    if count.shape or not count.dtype.is_int:
        raise ctx.refusal(
            "E0302",
            f"the length `K` of a dot product is an int, the same for all lanes, this is "
            f"{describe(count)}",
            at=K,
        )
    return count


def _element(ctx: Context, array: Operand, base: Operand, stride: Operand, k: Num) -> Num:
    wide = (
        widen(ctx, as_array_pointer(array).array, k)
        if isinstance(array, Array | ArrayPointer)
        else k
    )
    moved = binary(ctx, ast.Mult(), wide, number(ctx, stride, "a stride"))
    offset = binary(ctx, ast.Add(), moved, number(ctx, base, "an offset"))
    return memory.load(ctx, array, None, None, offset)


@frozen
class _Form:
    """A function with two orders: the names that only one of them has, and how both are shown."""

    lower: Callable[..., Operand]
    theirs: frozenset[str]
    ours: frozenset[str]
    orders: str
    most: int | None = None  # of arguments, in our order


_BASES = frozenset(("a_base", "b_base"))
_FORMS = {
    "mma": _Form(
        _mma,
        _BASES,
        frozenset(("a_offs", "b_offs")),
        "`mk.mma(acc, a, a_offs, b, b_offs, a_stride, b_stride)` or "
        "`mk.mma(a, a_base, a_stride, b, b_base, b_stride, acc)`",
    ),
    "mma_store": _Form(
        _mma_store,
        frozenset(("buffer", "base", "fragment")),
        frozenset(("acc", "ptr", "offs")),
        "`mk.mma_store(acc, ptr, offs, stride)` or `mk.mma_store(buffer, base, stride, fragment)`",
    ),
    "dot": _Form(
        _dot,
        _BASES | {"a_stride", "b_stride", "K"},
        frozenset(("input_precision",)),
        "`mk.dot(a, b, acc)` of blocks or `mk.dot(a, a_base, a_stride, b, b_base, b_stride, K)` "
        "of arrays",
        4,
    ),
}


def original_form(ctx: Context, name: str, given: Given) -> Callable[..., Operand] | None:
    """What lowers a call in the order of the first easy_as; None for a call in ours."""
    form = _FORMS.get(name)
    if form is None:
        return None
    is_theirs, is_ours = (not names.isdisjoint(given.named) for names in (form.theirs, form.ours))
    if is_theirs and is_ours:
        raise _unclear(ctx, name, form, "its names are of both orders", given)
    if is_theirs or is_ours:
        return form.lower if is_theirs else None
    if form.most is not None:
        return form.lower if len(given.positional) > form.most else None
    if not given.positional or items_of(given.positional[0]) is not None:
        return None
    first = given.positional[0]
    if not isinstance(first, Array | ArrayPointer):
        raise _unclear(ctx, name, form, f"it begins with {describe(first)}", given)
    return form.lower


def _unclear(ctx: Context, name: str, form: _Form, why: str, given: Given) -> Exception:
    place = argument(given, 0) if given.node.args else given.node.func
    return ctx.refusal(
        "E0509",
        f"which order of arguments is meant in `mk.{name}` is not clear: {why}",
        at=place,
        help=f"write {form.orders}",
    )


def _logic(name: str) -> Callable[..., Operand]:
    """`and_` or `or_`: both sides are computed."""

    def lower(ctx: Context, a: Operand, b: Operand) -> Operand:
        left, right = to_bool(ctx, a), to_bool(ctx, b)
        if isinstance(left, Const) and isinstance(right, Const):
            both = bool(left.value), bool(right.value)
            return Const(all(both) if name == "and" else any(both))
        return combine_bools(ctx, name, left, right)

    return lower


def _not(ctx: Context, a: Operand) -> Operand:
    return negate_truth(ctx, a)


LOGIC: dict[str, Callable[..., Operand]] = {
    "and_": _logic("and"),
    "or_": _logic("or"),
    "not_": _not,
}
