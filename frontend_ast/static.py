"""Arguments of `mk` that must be known at compile time, and such as must be numbers."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Sequence
from typing import Any, SupportsIndex, cast

import numpy as np

from eas.frontend_ast.arithmetic import items_of
from eas.frontend_ast.context import Context
from eas.frontend_ast.fixes import rewrite, rewrite_parameter
from eas.frontend_ast.operands import Const, Num, Operand, Range
from eas.frontend_ast.promote import describe, materialize, number, why_none
from eas.ir.ops.shape import MAX_RANK
from eas.ir.types import DTYPES, LONG_NAMES, DType, Shape, dtype_named, from_numpy
from eas.support.close_names import close_matches
from eas.support.diagnostics import Fix


def static_int(ctx: Context, operand: Operand, what: str, help: Sequence[Fix | str] = ()) -> int:
    if isinstance(operand, Const) and type(operand.value) is not bool:
        with contextlib.suppress(TypeError):
            return operator.index(cast(SupportsIndex, operand.value))
    raise ctx.refusal(
        "E0705",
        f"{what} must be an int that is known at compile time, this is {describe(operand)}",
        at=operand,
        help=help or why_none(ctx, operand) or _make_static(ctx, operand),
    )


def _make_static(ctx: Context, operand: Operand) -> Fix | str:
    """A parameter of the kernel becomes a constant by its annotation."""
    for param in ctx.params.values():
        if isinstance(operand, Num) and operand.value is param.value and param.role == "argument":
            annotated = f"{param.name}: eas.constexpr"
            return rewrite_parameter(
                ctx, f"annotate the parameter: `{annotated}`", param.name, annotated
            )
    if isinstance(operand, Const) and isinstance(operand.value, str) and operand.value in DTYPES:
        return "what a constexpr is compiled for is a value, not a type: `dict(BLOCK=256)`"
    return "make it a literal, or a parameter annotated `eas.constexpr`"


def static_flag(ctx: Context, operand: Operand, name: str) -> bool:
    if isinstance(operand, Const) and type(operand.value) is bool:
        return operand.value
    raise ctx.refusal(
        "E0705",
        f"`{name}` is True or False, known at compile time, this is {describe(operand)}",
        at=operand,
    )


def static_ints(ctx: Context, operand: Operand, what: str) -> tuple[int, ...]:
    items = items_of(operand)
    if items is not None:
        return tuple(static_int(ctx, item, what) for item in items)
    return (static_int(ctx, operand, what),)


def static_shape(ctx: Context, operand: Operand) -> Shape:
    shape = static_ints(ctx, operand, "an extent of a shape")
    if not 1 <= len(shape) <= MAX_RANK or any(extent < 1 for extent in shape):
        raise ctx.refusal(
            "E0514",
            f"a block has one to {MAX_RANK} axes of at least one lane, this is {list(shape)}",
            at=operand,
        )
    return shape


def static_dtype(ctx: Context, operand: Operand) -> DType:
    if isinstance(operand, Const):
        value = operand.value
        if isinstance(value, DType):
            return value
        found = dtype_named(value) if isinstance(value, str) else _python_dtype(value)
        if found is not None:
            return found
    raise ctx.refusal(
        "E0315",
        f"a dtype is needed, this is {describe(operand)}",
        at=operand,
        help=_like(ctx, operand) or "for example `mk.f32`",
    )


def _like(ctx: Context, operand: Operand) -> tuple[Fix, ...]:
    """The dtype whose name looks like a string."""
    if not isinstance(operand, Const) or not isinstance(operand.value, str):
        return ()
    close = close_matches(operand.value, (*DTYPES, *LONG_NAMES))
    place = ctx.place(operand)
    return tuple(rewrite(f'did you mean `"{name}"`?', place, f'"{name}"') for name in close)


def _python_dtype(value: Any) -> DType | None:
    """The dtype of `np.float32` or `np.dtype("float32")`."""
    module = getattr(value if isinstance(value, type) else type(value), "__module__", "")
    try:
        return from_numpy(np.dtype(value)) if module.startswith("numpy") else None
    except TypeError:
        return None


def static_axis(ctx: Context, axis: Operand, num: Num, help: Sequence[Fix | str] = ()) -> int:
    """An axis of a block, counted from the end if it is negative; `help` is for what is none."""
    place = static_int(ctx, axis, "the axis", help)
    rank = len(num.shape)
    if not -rank <= place < rank:
        raise ctx.refusal("E0511", f"{describe(num)} has no axis {place}", at=axis, help=help)
    return place % rank


def runtime_number(ctx: Context, operand: Operand) -> Num:
    """A number that is known at run time, or made one."""
    if isinstance(operand, Range):
        raise ctx.refusal(
            "E0302", "a block is needed, this is a range", at=operand, help="use `mk.arange`"
        )
    return materialize(ctx, number(ctx, operand, "a block"))
