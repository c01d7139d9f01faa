"""Dots: attributes of modules and constants, of arrays, of numbers, fields of records."""

from __future__ import annotations

import ast
import inspect
from types import FunctionType

from eas.frontend_ast.call_binding import Given
from eas.frontend_ast.calls import call_function, capture_attributes, of_elements
from eas.frontend_ast.context import Context
from eas.frontend_ast.elementwise import to_dtype
from eas.frontend_ast.intrinsics import is_function_of_mk
from eas.frontend_ast.name_lookup import lower_attribute_of_constant, no_attribute
from eas.frontend_ast.operands import Array, Const, Method, Num, Operand, RecordMethod, Tuple
from eas.frontend_ast.promote import describe
from eas.frontend_ast.record_values import is_named_tuple, replace_fields
from eas.frontend_ast.subscripts import extent, stride

_OF_NUMBERS = ("dtype", "ndim", "shape", "to")
_OF_ARRAYS = ("dtype", "ndim", "shape", "strides")


def lower_attribute(ctx: Context, node: ast.Attribute) -> Operand:
    """Of modules, constants, records, numbers (`x.dtype`, `x.to`) and arrays (`a.shape`)."""
    holder = ctx.expression(node.value)
    match holder:
        case Num():
            return _of_number(ctx, holder, node)
        case Array():
            return _of_array(ctx, holder, node)
        case Tuple(fields=fields, items=items) if node.attr in fields:
            return items[fields.index(node.attr)]
        case Tuple():
            return _of_record(ctx, holder, node)
        case Const():
            return lower_attribute_of_constant(ctx, holder, node)
        case _:
            raise no_attribute(ctx, node, describe(holder), ())


def _of_record(ctx: Context, record: Tuple, node: ast.Attribute) -> Operand:
    """A method, a property or a constant of the class."""
    name = node.attr
    if hasattr(record.make, name):
        capture_attributes(ctx, record.make, name)
    match inspect.getattr_static(record.make, name, None):
        case FunctionType() if name == "_replace" and is_named_tuple(record.make):
            return Method(record, name, replace_fields)
        case FunctionType() as function if not _is_of_named_tuples(name):
            return RecordMethod(record, name, function)
        case property(fget=FunctionType() as function):
            call = ast.copy_location(ast.Call(node, [], []), node)
            return call_function(ctx, function, Given(call, (), {}), record)
        case staticmethod() | int() | float() | str() | tuple():
            return lower_attribute_of_constant(ctx, Const(record.make), node)
        case _:
            raise no_attribute(
                ctx, node, describe(record), record.fields, _suggest_change(ctx, node)
            )


def _suggest_change(ctx: Context, node: ast.Attribute) -> tuple[str, ...]:
    """A list is a value here: what would change it makes a new one, of another type."""
    if not hasattr(list, node.attr):
        return ()
    name = ctx.text(node.value) or "items"
    if any(target.kind == "loop" for target in ctx.targets):
        return (f"a list keeps its length in a loop; use an array: `{name} = mk.local(4, mk.f32)`",)
    return (f"a list cannot be changed, make a new one: `{name} = [*{name}, x]`",)


def _is_of_named_tuples(name: str) -> bool:
    """`_asdict` and `_make`, which give what a kernel has no use for."""
    return name.startswith("_")


def _of_number(ctx: Context, num: Num, node: ast.Attribute) -> Operand:
    match node.attr:
        case "dtype":
            return Const(num.dtype)
        case "shape":
            return Const(num.shape)
        case "ndim":
            return Const(len(num.shape))
        case "to":
            return Method(num, "to", to_dtype)
        case _:
            raise no_attribute(ctx, node, describe(num), _OF_NUMBERS, _functions_named(ctx, node))


def _functions_named(ctx: Context, node: ast.Attribute) -> tuple[str, ...]:
    """NumPy's methods are functions here."""
    if node.attr == "T":
        return (f"call the function: `mk.trans({ctx.text(node.value) or 'x'})`",)
    if not is_function_of_mk(node.attr):
        return ()
    return (f"call the function: `mk.{node.attr}({ctx.text(node.value) or 'x'})`",)


def _of_array(ctx: Context, array: Array, node: ast.Attribute) -> Operand:
    name = node.attr
    if name == "dtype":
        return Const(array.dtype)
    if name not in _OF_ARRAYS:
        raise no_attribute(ctx, node, describe(array), _OF_ARRAYS, of_elements(name, array))
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
