"""Comparisons: of numbers, tuples and constants; what is the same, what is held."""

from __future__ import annotations

import ast
from typing import Any

from eas.frontend_ast.arithmetic import (
    COMPARISONS,
    SYMBOLS,
    binary,
    class_of,
    combine_bools,
    failed,
    fold,
    is_bool,
    items_of,
    negate_truth,
    no_operator,
    refuse_own_operators,
)
from eas.frontend_ast.context import Context
from eas.frontend_ast.operands import Const, Num, Operand, Range, Tuple
from eas.frontend_ast.promote import describe, is_numeric, number, promote, to_bool
from eas.frontend_ast.record_operators import combine_records
from eas.frontend_ast.record_values import unwrap
from eas.frontend_ast.source.parameters import is_same
from eas.ir.types import BOOL


def compare(ctx: Context, operation: ast.cmpop, left: Operand, right: Operand) -> Operand:
    match operation:
        case ast.Is() | ast.IsNot():
            return identity(ctx, left, right, isinstance(operation, ast.Is))
        case ast.In() | ast.NotIn():
            return membership(ctx, left, right, isinstance(operation, ast.In))
        case _:
            return _compare_values(ctx, type(operation), left, right)


def _compare_values(ctx: Context, kind: type[ast.cmpop], left: Operand, right: Operand) -> Operand:
    if isinstance(left, Const) and isinstance(right, Const):
        return fold(ctx, kind, left, right)
    if (combined := _compare_records(ctx, kind, left, right)) is not None:
        return combined
    if isinstance(left, Tuple) or isinstance(right, Tuple):
        return _compare_tuples(ctx, kind, left, right)
    if kind in (ast.Eq, ast.NotEq) and _never_equal(left, right):
        return Const(kind is ast.NotEq)
    pair = [number(ctx, left), number(ctx, right)]
    refuse_own_operators(ctx, kind, *pair)
    both_bool = all(map(is_bool, pair)) and kind in (ast.Eq, ast.NotEq)
    a, b = promote(ctx, pair, BOOL if both_bool else None)
    return ctx.compute(COMPARISONS[kind], a.value, b.value)


def _compare_records(
    ctx: Context, kind: type[ast.cmpop], left: Operand, right: Operand
) -> Operand | None:
    """By the methods of their class; `!=` is the opposite of `__eq__`, unless it has a method."""
    found = combine_records(ctx, kind, left, right)
    if found is not None or kind is not ast.NotEq:
        return found
    equal = combine_records(ctx, ast.Eq, left, right)
    return None if equal is None else negate_truth(ctx, equal)


def _never_equal(left: Operand, right: Operand) -> bool:
    """A number and something that is none, such as `None` or a string."""
    return any(isinstance(o, Const) and not is_numeric(o.value) for o in (left, right))


def _compare_tuples(ctx: Context, kind: type[ast.cmpop], left: Operand, right: Operand) -> Operand:
    left, right = unwrap(ctx, left), unwrap(ctx, right)
    a, b = _compared_parts(left), _compared_parts(right)
    if kind not in (ast.Eq, ast.NotEq) or a is None or b is None:
        raise no_operator(ctx, SYMBOLS[kind], left, right, "compare their parts: `a[0] < b[0]`")
    is_comparable = class_of(left) is class_of(right) and len(a) == len(b)
    equal: Operand = Const(is_comparable)
    if is_comparable:
        for x, y in zip(a, b, strict=True):
            same = to_bool(ctx, _compare_values(ctx, ast.Eq, x, y))
            equal = _both(ctx, equal, same)
    return equal if kind is ast.Eq else negate_truth(ctx, equal)


def _compared_parts(operand: Operand) -> tuple[Operand, ...] | None:
    """What decides whether a value is equal to a tuple, list or record; None if it is not known."""
    if isinstance(operand, Tuple):
        is_compared = getattr(operand.make, "__dataclass_params__", None)
        return operand.items if is_compared is None or is_compared.eq else None
    if isinstance(operand, Num) or (isinstance(operand, Const) and _is_plain(operand.value)):
        return items_of(operand) or ()
    return None


def _is_plain(value: object) -> bool:
    return value is None or is_numeric(value) or type(value) in (str, tuple, list)


def _both(ctx: Context, a: Operand, b: Operand) -> Operand:
    if isinstance(a, Const):
        return b if a.value else a
    return a if isinstance(b, Const) and b.value else combine_bools(ctx, "and", a, b)


def identity(ctx: Context, left: Operand, right: Operand, is_positive: bool) -> Operand:
    """`is`, of constants only: a value in a kernel has no identity."""
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(_is_one(left.value, right.value) == is_positive)
    if any(isinstance(o, Const) and not is_numeric(o.value) for o in (left, right)):
        return Const(not is_positive)
    suggestion = "a value in a kernel has no identity: compare with `==`"
    raise no_operator(ctx, "is", left, right, suggestion)


def _is_one(a: object, b: object) -> bool:
    """Objects are themselves; of numbers and texts Python keeps as many copies as it likes."""
    return a is b or ((is_numeric(a) or isinstance(a, str | bytes)) and is_same(a, b))


def membership(ctx: Context, left: Operand, right: Operand, is_positive: bool) -> Operand:
    """`in`: whether a tuple, a range, or a constant that Python can search holds a value."""
    if isinstance(right, Range):
        found = _in_range(ctx, left, right)
        return found if is_positive else negate_truth(ctx, found)
    if isinstance(left, Const) and isinstance(right, Const):
        try:
            container: Any = right.value
            return Const((left.value in container) == is_positive)
        except TypeError as error:
            what = f"`in` of {describe(left)} and {describe(right)}"
            raise failed(ctx, what, error) from error
    items = items_of(right)
    if items is None:
        suggestion = "only a tuple whose length is known can be searched"
        if isinstance(right, Num) and right.shape:
            suggestion = "compare all lanes at once: `mk.any(x == value)`"
        raise no_operator(ctx, "in", left, right, suggestion)
    found: Operand = Const(False)
    for item in items:
        same = _compare_values(ctx, ast.Eq, left, item)
        if isinstance(found, Const):
            found = same if not found.value else found
        elif not isinstance(same, Const):
            found = combine_bools(ctx, "or", found, same)
        elif same.value:
            found = same
    return found if is_positive else negate_truth(ctx, found)


def _in_range(ctx: Context, left: Operand, bounds: Range) -> Operand:
    """Between the bounds, and as many steps from the start as a whole number says."""
    step: Any = bounds.step.value if isinstance(bounds.step, Const) else None
    if step is None:
        suggestion = "a range is searched if its step is a constant"
        raise no_operator(ctx, "in", left, bounds, suggestion)
    after, before = (ast.GtE(), ast.Lt()) if step > 0 else (ast.LtE(), ast.Gt())
    remainders = [binary(ctx, ast.Mod(), number(ctx, n), bounds.step) for n in (left, bounds.start)]
    found: Operand = Const(True)
    for operation, a, b in (
        (after, left, bounds.start),
        (before, left, bounds.stop),
        (ast.Eq(), *remainders),
    ):
        found = _both(ctx, found, _compare_values(ctx, type(operation), a, b))
    return found
