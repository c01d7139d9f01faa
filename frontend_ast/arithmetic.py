"""Operators: arithmetic, comparison, pointers plus offsets."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from eas.frontend_ast.arguments import is_same
from eas.frontend_ast.context import Context
from eas.frontend_ast.forms import as_place
from eas.frontend_ast.promote import (
    Number,
    broadcast,
    cast,
    common_dtype,
    describe,
    is_numeric,
    materialize,
    number,
    promote,
    to_bool,
)
from eas.frontend_ast.records import unwrap
from eas.frontend_ast.refused import Refused, refusal_of
from eas.frontend_ast.values import Array, Const, Generated, Num, Operand, Place, Tuple
from eas.ir.types import BOOL, F32, DType

PYTHON: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}

NUMERIC: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
}
BITWISE: dict[type[ast.AST], str] = {ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor"}
SHIFTS: dict[type[ast.AST], str] = {ast.LShift: "shl", ast.RShift: "shr"}
COMPARISONS: dict[type[ast.AST], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.MatMult: "@",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}

REFUSED_OPERATORS: dict[type[ast.operator], Refused] = {
    ast.MatMult: Refused(
        "E0307",
        "`@` is not an operator of kernels",
        "add up products: `acc += a[:, None] * b[None, :]` in a loop",
    ),
}

# A constant of more bits than this is a mistake, and could take for ever to compute.
_MAX_CONSTANT_BITS = 4096
# What is taken apart at compile time has at most this many items.
MAX_ITEMS = 4096


def lower_binary(ctx: Context, node: ast.BinOp) -> Operand:
    """Arithmetic of numbers, offsets into arrays, sums of tuples; of constants what Python says."""
    left, right = ctx.expressions([node.left, node.right])
    return binary(ctx, node.op, left, right)


def binary(ctx: Context, operation: ast.operator, left: Operand, right: Operand) -> Operand:
    kind = type(operation)
    if kind in REFUSED_OPERATORS:
        raise refusal_of(ctx, REFUSED_OPERATORS[kind], ctx.loc)
    if isinstance(left, Const) and isinstance(right, Const):
        return fold(ctx, kind, left, right)
    if isinstance(left, Array | Place) or isinstance(right, Array | Place):
        return _move(ctx, operation, left, right)
    if isinstance(left, Tuple) or isinstance(right, Tuple):
        return _join_tuples(ctx, kind, left, right)
    return _compute(ctx, kind, number(ctx, left), number(ctx, right))


def fold(ctx: Context, kind: type[ast.AST], left: Const, right: Const) -> Const:
    """What Python itself says of two constants."""
    a: Any = left.value
    b: Any = right.value
    if kind in (ast.Pow, ast.LShift) and isinstance(a, int) and isinstance(b, int):
        bits = a.bit_length() * max(b, 1) if kind is ast.Pow else a.bit_length() + max(b, 0)
        if bits > _MAX_CONSTANT_BITS:
            raise ctx.refusal("E0303", f"the constant {a} {SYMBOLS[kind]} {b} is too large")
    try:
        with np.errstate(all="ignore"):  # NumPy's own scalars wrap, and would warn
            return Const(getattr(operator, PYTHON[kind])(a, b))
    except Exception as error:
        for side in (left, right):
            if side.value is None:
                number(ctx, side)
        what = f"`{SYMBOLS[kind]}` of {describe(left)} and {describe(right)}"
        raise failed(ctx, what, error) from error


def failed(ctx: Context, what: str, error: Exception) -> Exception:
    """The error for constants that Python itself cannot compute with."""
    kind = type(error).__name__
    words = kind if isinstance(error, ZeroDivisionError) else f"{kind}: {error}"
    return ctx.refusal("E0701", f"{what} cannot be computed", notes=(f"Python raises {words}",))


def _compute(ctx: Context, kind: type[ast.AST], left: Number, right: Number) -> Operand:
    weak = _is_weak(left) and _is_weak(right)
    if kind is ast.Div:
        return divide(ctx, left, right)
    if kind is ast.Pow:
        return power(ctx, left, right)
    if kind in SHIFTS:
        return _shift(ctx, SHIFTS[kind], left, right)
    if kind in BITWISE:
        if _is_bool(left) and _is_bool(right):
            return combine_bools(ctx, BITWISE[kind], left, right)
        a, b = promote(ctx, [left, right])
        return Num(ctx.compute(BITWISE[kind], a.value, b.value).value, weak)
    a, b = promote(ctx, [left, right])
    return Num(ctx.compute(NUMERIC[kind], a.value, b.value).value, weak)


def divide(ctx: Context, left: Number, right: Number) -> Num:
    """`/`: of ints too it gives a float."""
    a, b = promote(ctx, [left, right], as_float(common_dtype(ctx, [left, right])))
    return Num(ctx.compute("div", a.value, b.value).value, a.weak)


def as_float(dtype: DType) -> DType:
    return dtype if dtype.is_float else F32


def power(ctx: Context, left: Number, right: Number) -> Operand:
    """`**`: ints by repeated products, floats by `pow`; a square is one product in both."""
    exponent = right.value if isinstance(right, Const) else None
    dtype = common_dtype(ctx, [left, right])
    if dtype.is_int and (not isinstance(exponent, int) or not 0 <= exponent <= 64):
        raise ctx.refusal(
            "E0308",
            "the power of an int must be a constant from 0 to 64",
            at=right,
            label=describe(right),
            notes=("Python gives an int, but a float if the exponent is negative",),
            help="compute with floats: `mk.pow(x.to(mk.f32), n)`",
        )
    if isinstance(left, Num) and isinstance(exponent, int) and (dtype.is_int or exponent == 2):
        return Num(_multiply_out(ctx, cast(ctx, left, dtype), exponent).value, left.weak)
    a, b = promote(ctx, [left, right], dtype)
    return Num(ctx.compute("pow", a.value, b.value).value, a.weak)


def _multiply_out(ctx: Context, base: Num, exponent: int) -> Num:
    result: Num | None = None
    while exponent:
        if exponent & 1:
            product = base if result is None else ctx.compute("mul", result.value, base.value)
            result = product
        exponent >>= 1
        if exponent:
            base = ctx.compute("mul", base.value, base.value)
    if result is None:
        return broadcast(ctx, materialize(ctx, Const(1), base.dtype), base.shape)
    return result


def _shift(ctx: Context, name: str, left: Number, right: Number) -> Num:
    """A shift keeps the type of what is shifted; a literal takes that of the amount."""
    dtype = common_dtype(ctx, [left, right] if _is_weak(left) else [left])
    symbol = "<<" if name == "shl" else ">>"
    for side in (left, right):
        if common_dtype(ctx, [side]).is_float:
            raise ctx.refusal("E0301", f"`{symbol}` takes integers, not {describe(side)}", at=side)
    a, b = promote(ctx, [left, right], dtype)
    return Num(ctx.compute(name, a.value, b.value).value, _is_weak(left) and _is_weak(right))


def combine_bools(ctx: Context, name: str, left: Operand, right: Operand) -> Num:
    a, b = promote(ctx, [number(ctx, left), number(ctx, right)], BOOL)
    return ctx.compute(name, a.value, b.value)


# --- one operand --------------------------------------------------------------------------------


def unary(ctx: Context, operation: ast.unaryop, operand: Operand) -> Operand:
    return UNARY[type(operation)](ctx, operand)


def negate_truth(ctx: Context, operand: Operand) -> Operand:
    """`not x`: whether `x` counts as false."""
    truth = to_bool(ctx, operand)
    if isinstance(truth, Const):
        return Const(not truth.value)
    return ctx.compute("not", truth.value)


def negate(ctx: Context, operand: Operand) -> Operand:
    """`-x`."""
    num = number(ctx, operand)
    if isinstance(num, Const):
        value: Any = num.value
        return Const(-value)
    [a] = promote(ctx, [num])
    return Num(ctx.compute("neg", a.value).value, num.weak)


def plus(ctx: Context, operand: Operand) -> Operand:
    """`+x`: of a bool it makes an int, as in Python."""
    num = number(ctx, operand)
    if isinstance(num, Const):
        value: Any = num.value
        return Const(+value)
    return promote(ctx, [num])[0]


def invert(ctx: Context, operand: Operand) -> Operand:
    """`~x` of ints: each bit the other way round."""
    num = number(ctx, operand)
    dtype = common_dtype(ctx, [num])
    if _is_bool(num) or dtype.is_float:
        raise ctx.refusal(
            "E0301",
            f"`~` takes integers, not {describe(num)}",
            at=operand,
            help="the negation of a bool is `not x`" if _is_bool(num) else (),
        )
    if isinstance(num, Const):
        value: Any = num.value
        return Const(~value)
    return Num(ctx.compute("not", num.value).value, num.weak)


UNARY: dict[type[ast.unaryop], Callable[[Context, Operand], Operand]] = {
    ast.Not: negate_truth,
    ast.USub: negate,
    ast.UAdd: plus,
    ast.Invert: invert,
}


# --- comparison ---------------------------------------------------------------------------------


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
    if isinstance(left, Tuple) or isinstance(right, Tuple):
        return _compare_tuples(ctx, kind, left, right)
    if kind in (ast.Eq, ast.NotEq) and _never_equal(left, right):
        return Const(kind is ast.NotEq)
    pair = [number(ctx, left), number(ctx, right)]
    both_bool = all(map(_is_bool, pair)) and kind in (ast.Eq, ast.NotEq)
    a, b = promote(ctx, pair, BOOL if both_bool else None)
    return ctx.compute(COMPARISONS[kind], a.value, b.value)


def _never_equal(left: Operand, right: Operand) -> bool:
    """A number and something that is none, such as `None` or a string."""
    return any(isinstance(o, Const) and not is_numeric(o.value) for o in (left, right))


def _compare_tuples(ctx: Context, kind: type[ast.cmpop], left: Operand, right: Operand) -> Operand:
    left, right = unwrap(ctx, left), unwrap(ctx, right)
    a, b = _compared_parts(left), _compared_parts(right)
    if kind not in (ast.Eq, ast.NotEq) or a is None or b is None:
        raise _no_operator(ctx, SYMBOLS[kind], left, right, "compare their parts: `a[0] < b[0]`")
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
        same = left.value is right.value or is_same(left.value, right.value)
        return Const(same == is_positive)
    if any(isinstance(o, Const) and not is_numeric(o.value) for o in (left, right)):
        return Const(not is_positive)
    way_out = "a value in a kernel has no identity: compare with `==`"
    raise _no_operator(ctx, "is", left, right, way_out)


def membership(ctx: Context, left: Operand, right: Operand, is_positive: bool) -> Operand:
    """`in`: whether a tuple, or a constant that Python can search, holds a value."""
    if isinstance(left, Const) and isinstance(right, Const):
        try:
            container: Any = right.value
            return Const((left.value in container) == is_positive)
        except TypeError as error:
            what = f"`in` of {describe(left)} and {describe(right)}"
            raise failed(ctx, what, error) from error
    items = items_of(right)
    if items is None:
        way_out = "only a tuple whose length is known can be searched"
        if isinstance(right, Num) and right.shape:
            way_out = "compare all lanes at once: `mk.any(x == value)`"
        raise _no_operator(ctx, "in", left, right, way_out)
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


# --- pointers and tuples ------------------------------------------------------------------------


def _move(ctx: Context, operation: ast.operator, left: Operand, right: Operand) -> Operand:
    """`a + offs`, `offs + a`, `a - offs`."""
    is_sum = isinstance(operation, ast.Add)
    if is_sum and not isinstance(left, Array | Place):
        left, right = right, left
    if not (is_sum or isinstance(operation, ast.Sub)) or isinstance(right, Array | Place):
        way_out = "an array takes an offset only; to compute, load its elements: `mk.load(a, i)`"
        raise _no_operator(ctx, SYMBOLS[type(operation)], left, right, way_out)
    place = as_place(left)
    offset = number(ctx, right, "an offset")
    if common_dtype(ctx, [offset]).is_float:
        raise ctx.refusal(
            "E0501", f"an offset counts elements, this is {describe(offset)}", at=offset
        )
    moved = binary(ctx, operation, place.offset, offset)
    assert isinstance(moved, Const | Num)
    return Place(place.array, moved)


def too_long(ctx: Context, what: str) -> Exception:
    return ctx.refusal(
        "E0703",
        f"{what} is too long to be written out (at most {MAX_ITEMS})",
        help="use a loop over `range`, which runs on the device",
    )


def items_of(operand: Operand) -> tuple[Operand, ...] | None:
    """The parts of a sequence whose length is known, or None."""
    if isinstance(operand, Tuple):
        return operand.items if issubclass(operand.make, tuple | list) else None
    if isinstance(operand, Const):
        value: Any = operand.value
        if type(value) is range and len(value) > MAX_ITEMS:
            return None
        if type(value) in (tuple, list, range) or hasattr(value, "_fields"):
            return tuple(Const(item) for item in value)
    return None


def class_of(operand: Operand) -> type[object]:
    """The class that Python compares and adds by: a named tuple is a tuple there."""
    found: type[object] = type(operand.value) if isinstance(operand, Const) else type(operand)
    if isinstance(operand, Tuple):
        found = operand.make
    return tuple if issubclass(found, tuple) else found


def kept_generator(ctx: Context, operand: Operand) -> Exception:
    is_lazy = isinstance(operand, Generated) and operand.is_lazy
    return ctx.refusal(
        "E0113",
        "the items of a generator cannot be worked out one by one"
        if is_lazy
        else "an iterator gives its items once, and cannot be kept",
        at=operand,
        help=f"make a list of them: `{'[x * x for x in items]' if is_lazy else 'list(zip(a, b))'}`",
    )


def _join_tuples(ctx: Context, kind: type[ast.AST], left: Operand, right: Operand) -> Operand:
    a, b = items_of(left), items_of(right)
    make = class_of(right if a is None else left)
    if kind is ast.Add and a is not None and b is not None and make is class_of(right):
        return Tuple(a + b, make)
    count = next((o.value for o in (left, right) if isinstance(o, Const)), None)
    items = b if a is None else a
    if kind is ast.Mult and type(count) is int and items is not None:
        if len(items) * count > MAX_ITEMS:
            raise too_long(ctx, f"a tuple of {len(items) * count} items")
        return Tuple(items * count, make)
    way_out = "a tuple is taken apart at compile time: compute with its parts"
    raise _no_operator(ctx, SYMBOLS[kind], left, right, way_out)


def _no_operator(
    ctx: Context, symbol: str, left: Operand, right: Operand, way_out: str
) -> Exception:
    return ctx.refusal(
        "E0309",
        f"there is no `{symbol}` for {describe(left)} and {describe(right)}",
        secondary=ctx.beside((left, describe(left)), (right, describe(right))),
        help=way_out,
    )


def _is_bool(operand: Number) -> bool:
    if isinstance(operand, Num):
        return operand.dtype.is_bool
    return isinstance(operand.value, bool)


def _is_weak(operand: Number) -> bool:
    return isinstance(operand, Const) or operand.weak
