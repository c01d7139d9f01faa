"""Operators of named tuples and frozen dataclasses: the methods that a class has for them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from inspect import getattr_static
from types import FunctionType

from eas.frontend_ast.context import Context
from eas.frontend_ast.operands import Const, Num, Operand, Tuple
from eas.frontend_ast.operator_methods import ARITHMETIC, OF_TWO
from eas.frontend_ast.record_values import is_generated, is_record, unwrap


def combine_records(
    ctx: Context, kind: type[ast.AST], left: Operand, right: Operand
) -> Operand | None:
    """What the method of an operator gives, as Python finds it; None if no class has one."""
    if not _is_record(left) and not _is_record(right):
        return None
    for receiver, name, other in _attempts(kind, left, right):
        method = _own_method(ctx, receiver, name)
        if method is not None:
            result = ctx.table.call(ctx, method, unwrap(ctx, receiver), (other,))
            if result != Const(NotImplemented):
                return result
    return None


def apply_to_record(ctx: Context, name: str, operand: Operand) -> Operand | None:
    """`-v` by the class's `__neg__`; None if it has none."""
    method = _own_method(ctx, operand, name)
    if method is None:
        return None
    return ctx.table.call(ctx, method, unwrap(ctx, operand), ())


def _attempts(
    kind: type[ast.AST], left: Operand, right: Operand
) -> Iterator[tuple[Operand, str, Operand]]:
    """The left side's method, then the right side's; a subclass on the right goes first."""
    own, reflected = OF_TWO[kind]
    sides = [(left, own, right), (right, reflected, left)]
    a, b = _class_of(left), _class_of(right)
    if a is b and kind in ARITHMETIC:
        sides.pop()
    elif issubclass(b, a) and getattr_static(b, reflected, None) is not getattr_static(
        a, reflected, None
    ):
        sides.reverse()
    yield from sides


def _is_record(operand: Operand) -> bool:
    return not isinstance(operand, Num) and is_record(_class_of(operand))


def _class_of(operand: Operand) -> type:
    match operand:
        case Tuple(make=make):
            return make
        case Const(value=value):
            return type(value)
        case _:
            return object


def _own_method(ctx: Context, operand: Operand, name: str) -> FunctionType | None:
    """The function of a class that a user has written; the kernel depends on it as it is now."""
    if not _is_record(operand):
        return None
    cls = _class_of(operand)
    found = getattr_static(cls, name, None)
    if not isinstance(found, FunctionType) or is_generated(found):
        return None
    ctx.capture(cls, name, partial(getattr, cls, name), found)
    return found
