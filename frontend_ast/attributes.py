"""Dots: attributes of modules and constants, of arrays, of numbers, fields of records."""

from __future__ import annotations

import ast

from eas.frontend_ast.context import Context
from eas.frontend_ast.intrinsics import to_dtype
from eas.frontend_ast.names import close_matches, lower_attribute_of_constant
from eas.frontend_ast.promote import describe
from eas.frontend_ast.records import field, unwrap
from eas.frontend_ast.subscripts import extent, stride
from eas.frontend_ast.values import Array, Const, Method, Num, Operand, Tuple

_OF_NUMBERS = ("dtype", "ndim", "shape", "to")
_OF_ARRAYS = ("dtype", "ndim", "shape", "strides")


def lower_attribute(ctx: Context, node: ast.Attribute) -> Operand:
    holder = unwrap(ctx.expression(node.value))
    match holder:
        case Num():
            return _of_number(ctx, holder, node.attr)
        case Array():
            return _of_array(ctx, holder, node.attr)
        case Tuple() if (found := field(ctx, holder, node.attr)) is not None:
            return found
        case Const():
            return lower_attribute_of_constant(ctx, holder, node.attr, ctx.loc)
        case _:
            raise _no_attribute(ctx, holder, node.attr, ())


def _of_number(ctx: Context, num: Num, name: str) -> Operand:
    match name:
        case "dtype":
            return Const(num.dtype)
        case "shape":
            return Const(num.shape)
        case "ndim":
            return Const(len(num.shape))
        case "to":
            return Method(num, "to", to_dtype)
        case _:
            raise _no_attribute(ctx, num, name, _OF_NUMBERS)


def _of_array(ctx: Context, array: Array, name: str) -> Operand:
    if name == "dtype":
        return Const(array.dtype)
    if name not in _OF_ARRAYS:
        raise _no_attribute(ctx, array, name, _OF_ARRAYS)
    if array.ndim is None:
        raise ctx.refusal(
            "E0515",
            f"how many dimensions `{array.name}` has is not known",
            help='compile with an array, or with a type that says so: "*f32[:, :]"',
        )
    if name == "ndim":
        return Const(array.ndim)
    part = extent if name == "shape" else stride
    return Tuple(tuple(part(ctx, array, axis) for axis in range(array.ndim)))


def _no_attribute(ctx: Context, holder: Operand, name: str, known: tuple[str, ...]) -> Exception:
    close = close_matches(name, known)
    return ctx.refusal(
        "E0205",
        f"{describe(holder)} has no attribute `{name}`",
        help=f"did you mean `{close[0]}`?" if close else (),
    )
