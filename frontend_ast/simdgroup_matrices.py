"""8x8 matrices of thread programs: `mma_zero`, `mma`, `mma_store`.

A matrix is spread over the 32 threads of a simdgroup, two elements each: a tuple of two numbers.
"""

from __future__ import annotations

from collections.abc import Callable

from eas.frontend_ast import memory
from eas.frontend_ast.arithmetic import items_of
from eas.frontend_ast.collective import require_all_lanes
from eas.frontend_ast.context import Context
from eas.frontend_ast.number_forms import as_array_pointer
from eas.frontend_ast.operands import NONE, Array, ArrayPointer, Const, Num, Operand, Tuple
from eas.frontend_ast.promote import (
    add,
    broadcast,
    cast,
    describe,
    materialize,
    number,
    promote,
    widen,
)
from eas.ir.ops.simdgroup import SIMD
from eas.ir.types import F32

_EDGE = Const(8)


def _zero(ctx: Context) -> Operand:
    threads = _threads(ctx, "mma_zero")
    zero = broadcast(ctx, Num(ctx.build.constant(0, F32)), (threads,))
    return Tuple((zero, zero))


def _mma(
    ctx: Context,
    acc: Operand,
    a: Operand,
    a_offs: Operand,
    b: Operand,
    b_offs: Operand,
    a_stride: Operand = _EDGE,
    b_stride: Operand = _EDGE,
) -> Operand:
    sums = [num.value for num in _elements(ctx, acc)]
    left = [num.value for num in _loaded(ctx, a, a_offs, a_stride)]
    right = [num.value for num in _loaded(ctx, b, b_offs, b_stride)]
    operands = (*left, *right, *sums)
    return Tuple(tuple(ctx.compute("mma_word", *operands, word=word) for word in (0, 1)))


def _store(
    ctx: Context, acc: Operand, ptr: Operand, offs: Operand, stride: Operand = _EDGE
) -> Operand:
    first, second = _elements(ctx, acc)
    for value, offset in zip(
        (first, second), _element_offsets(ctx, ptr, offs, stride), strict=True
    ):
        memory.store(ctx, ptr, value, None, offset)
    return NONE


def _threads(ctx: Context, name: str) -> int:
    threads = None if "arange" in ctx.positions else ctx.known_threads()
    if threads is None or threads % SIMD:
        raise ctx.refusal(
            "E0603",
            f"`mk.{name}` is for kernels of whole simdgroups of {SIMD} threads",
            help=f"use `mk.tid(0, THREADS)` with a multiple of {SIMD} before",
        )
    require_all_lanes(ctx, f"`mk.{name}`")
    return threads


def _elements(ctx: Context, acc: Operand) -> tuple[Num, Num]:
    items = items_of(acc)
    if items is None or len(items) != 2:
        raise ctx.refusal(
            "E0302",
            f"a matrix is needed, this is {describe(acc)}",
            at=acc,
            help="begin with `mk.mma_zero()`",
        )
    shape = (_threads(ctx, "mma"),)
    first, second = (broadcast(ctx, materialize(ctx, number(ctx, x), F32), shape) for x in items)
    return first, second


def _loaded(ctx: Context, array: Operand, offs: Operand, stride: Operand) -> list[Num]:
    """A thread's two elements of a matrix in memory."""
    return [
        cast(ctx, memory.load(ctx, array, None, None, offset), F32)
        for offset in _element_offsets(ctx, array, offs, stride)
    ]


def _element_offsets(ctx: Context, array: Operand, offs: Operand, stride: Operand) -> list[Num]:
    """Where a thread's two elements of a matrix are, as Apple's GPUs spread them."""
    lane = ctx.compute("lane_index", size=_threads(ctx, "mma"))
    quad = _with(ctx, "truncdiv", lane, 4)
    row = add(
        ctx, _with(ctx, "and", quad, 4), _with(ctx, "truncmod", _with(ctx, "truncdiv", lane, 2), 4)
    )
    column = add(
        ctx,
        _with(ctx, "mul", _with(ctx, "and", quad, 2), 2),
        _with(ctx, "mul", _with(ctx, "truncmod", lane, 2), 2),
    )
    wide = (
        widen(ctx, as_array_pointer(array).array, row)
        if isinstance(array, Array | ArrayPointer)
        else row
    )
    x, y = promote(ctx, [wide, number(ctx, stride, "a stride")])
    moved = add(ctx, ctx.compute("mul", x.value, y.value), column)
    first = add(ctx, moved, number(ctx, offs, "an offset"))
    return [first, _with(ctx, "add", first, 1)]


def _with(ctx: Context, name: str, num: Num, value: int) -> Num:
    other = broadcast(ctx, Num(ctx.build.constant(value, num.dtype)), num.shape)
    return ctx.compute(name, num.value, other.value)


FRAGMENTS: dict[str, Callable[..., Operand]] = {
    "mma_zero": _zero,
    "mma": _mma,
    "mma_store": _store,
}
