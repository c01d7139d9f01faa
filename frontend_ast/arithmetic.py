"""Operators of arithmetic: of numbers, of pointers and offsets, of tuples."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from enum import IntFlag
from types import FunctionType
from typing import Any
from typing import cast as cast_type

import numpy as np

from eas.frontend_ast import operator_methods
from eas.frontend_ast.context import Context
from eas.frontend_ast.number_forms import as_array_pointer
from eas.frontend_ast.operands import (
    Array,
    ArrayPointer,
    Const,
    Generated,
    Num,
    Operand,
    Range,
    Tuple,
)
from eas.frontend_ast.promote import (
    Number,
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
from eas.frontend_ast.record_operators import apply_to_record, combine_records
from eas.frontend_ast.refused import Refused, refusal_of
from eas.ir.types import BOOL, F32, DType

COMPARISONS: dict[type[ast.AST], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}

# The functions of Python's module `operator`.
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
    **COMPARISONS,
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
        "multiply blocks with `mk.dot(a, b)`",
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
    if isinstance(left, Const) and isinstance(right, Const) and kind not in REFUSED_OPERATORS:
        return fold(ctx, kind, left, right)
    if (combined := combine_records(ctx, kind, left, right)) is not None:
        return combined
    if kind in REFUSED_OPERATORS:
        raise refusal_of(ctx, REFUSED_OPERATORS[kind], ctx.loc)
    if isinstance(left, Array | ArrayPointer) or isinstance(right, Array | ArrayPointer):
        return _move(ctx, operation, left, right)
    if kind is ast.Mod and isinstance(left, Const) and isinstance(left.value, str):
        raise _not_formatted(ctx, right)
    if isinstance(left, Tuple) or isinstance(right, Tuple):
        return _join_tuples(ctx, kind, left, right)
    return _compute(ctx, kind, number(ctx, left), number(ctx, right))


def _not_formatted(ctx: Context, value: Operand) -> Exception:
    return ctx.refusal(
        "E0414",
        "`%` of a string is computed by Python, which takes constants only",
        at=value,
        label=f"{describe(value)}, known at run time only",
        help='write an f-string: `f"... {x}"`',
    )


def fold(ctx: Context, kind: type[ast.AST], left: Const, right: Const) -> Const:
    """Python's own result for two constants."""
    a: Any = left.value
    b: Any = right.value
    if kind in (ast.Pow, ast.LShift) and isinstance(a, int) and isinstance(b, int):
        bits = a.bit_length() * max(b, 1) if kind is ast.Pow else a.bit_length() + max(b, 0)
        if bits > _MAX_CONSTANT_BITS:
            raise ctx.refusal("E0303", f"the constant {a} {SYMBOLS[kind]} {b} is too large")
    if kind is ast.Mult:
        _check_repetition(ctx, a, b)
        _check_repetition(ctx, b, a)
    try:
        with np.errstate(all="ignore"):  # NumPy's own scalars wrap, and would warn
            return Const(getattr(operator, PYTHON[kind])(a, b))
    except Exception as error:
        for side in (left, right):
            if side.value is None or isinstance(side.value, FunctionType):
                number(ctx, side)
        what = f"`{SYMBOLS[kind]}` of {describe(left)} and {describe(right)}"
        raise failed(ctx, what, error) from error


def _check_repetition(ctx: Context, items: Any, times: Any) -> None:
    make = cast_type(type[object], type(items))
    if make in (str, bytes, tuple, list) and isinstance(times, int):
        refuse_if_long(ctx, make, len(items) * times)


def failed(ctx: Context, what: str, error: Exception) -> Exception:
    """The error for constants that Python itself cannot compute with."""
    kind = type(error).__name__
    words = kind if isinstance(error, ZeroDivisionError) else f"{kind}: {error}"
    return ctx.refusal("E0701", f"{what} cannot be computed", notes=(f"Python raises {words}",))


def refuse_own_operators(ctx: Context, kind: type[ast.AST], *sides: Number) -> None:
    """A class of numbers with operators of its own means something else by them."""
    for side in sides:
        value = side.value if isinstance(side, Const) else 0
        if type(value) in (int, float, bool) or isinstance(value, np.generic):
            continue
        base = int if isinstance(value, int) else float
        name = PYTHON[kind].strip("_")
        for method in (f"__{name}__", f"__r{name}__"):
            is_own = getattr(type(value), method, None) is not getattr(base, method, None)
            # of flags the bits that two numbers share are the same as of plain ints
            if is_own and not (kind is ast.BitAnd and isinstance(value, IntFlag)):
                raise ctx.refusal(
                    "E0419",
                    f"`{type(value).__name__}` has a `{method}`, which would not run",
                    at=side,
                    help=f"compute with its number: `{base.__name__}(x)`",
                )


def _compute(ctx: Context, kind: type[ast.AST], left: Number, right: Number) -> Operand:
    refuse_own_operators(ctx, kind, left, right)
    weak = _is_weak(left) and _is_weak(right)
    if kind is ast.Div:
        return divide(ctx, left, right)
    if kind is ast.Pow:
        return power(ctx, left, right)
    if kind in SHIFTS:
        return _shift(ctx, SHIFTS[kind], left, right)
    if kind in BITWISE:
        if is_bool(left) and is_bool(right):
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


def unary(ctx: Context, operation: ast.unaryop, operand: Operand) -> Operand:
    method = operator_methods.UNARY.get(type(operation))
    if method and (applied := apply_to_record(ctx, method, operand)) is not None:
        return applied
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
    """`~x` of ints: each bit is inverted."""
    num = number(ctx, operand)
    dtype = common_dtype(ctx, [num])
    if is_bool(num) or dtype.is_float:
        raise ctx.refusal(
            "E0301",
            f"`~` takes integers, not {describe(num)}",
            at=operand,
            help="the negation of a bool is `not x`" if is_bool(num) else (),
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


def _move(ctx: Context, operation: ast.operator, left: Operand, right: Operand) -> Operand:
    """`a + offs`, `offs + a`, `a - offs`."""
    is_sum = isinstance(operation, ast.Add)
    if is_sum and not isinstance(left, Array | ArrayPointer):
        left, right = right, left
    if not (is_sum or isinstance(operation, ast.Sub)) or isinstance(right, Array | ArrayPointer):
        suggestion = "an array takes an offset only; to compute, load its elements: `mk.load(a, i)`"
        raise no_operator(ctx, SYMBOLS[type(operation)], left, right, suggestion)
    pointer = as_array_pointer(left)
    offset = number(ctx, right, "an offset")
    if common_dtype(ctx, [offset]).is_float:
        raise ctx.refusal(
            "E0501", f"an offset counts elements, this is {describe(offset)}", at=offset
        )
    moved = binary(ctx, operation, pointer.offset, widen(ctx, pointer.array, offset))
    assert isinstance(moved, Const | Num)
    return ArrayPointer(pointer.array, moved)


def refuse_if_long(ctx: Context, make: type[object], length: int) -> None:
    """What is taken apart at compile time is written out, and has an end."""
    if length > MAX_ITEMS:
        raise ctx.refusal(
            "E0703",
            f"a {make.__name__} of {length} items is too long to be written out "
            f"(at most {MAX_ITEMS})",
            help="use a loop over `range`, which runs on the device",
        )


def items_of(operand: Operand) -> tuple[Operand, ...] | None:
    """The parts of a sequence whose length is known, or None."""
    if isinstance(operand, Tuple):
        return operand.items if issubclass(operand.make, tuple | list) else None
    if (known := known_range(operand)) is not None:
        return tuple(map(Const, known)) if length_of(known) <= MAX_ITEMS else None
    if isinstance(operand, Const):
        value: Any = operand.value
        if type(value) in (tuple, list) or hasattr(value, "_fields"):
            return tuple(Const(item) for item in value)
    return None


def length_of(known: range) -> int:
    """`len` of a range, which Python gives up on where it does not fit 64 bits."""
    return max(0, -((known.start - known.stop) // known.step))


def known_range(operand: Operand) -> range | None:
    """A range whose numbers are constants."""
    if isinstance(operand, Range):
        return operand.known
    return operand.value if isinstance(operand, Const) and type(operand.value) is range else None


def unknown_range(ctx: Context, operand: Range) -> Exception:
    """The error for what needs to know how long a range is."""
    return ctx.refusal(
        "E0702",
        "the length of this range is known at run time only",
        at=operand,
        help="use a `for` statement, or bounds that are constexpr",
    )


def class_of(operand: Operand) -> type[object]:
    """The class that Python compares and adds by: a named tuple is a tuple there."""
    found: type[object] = type(operand.value) if isinstance(operand, Const) else type(operand)
    if isinstance(operand, Tuple):
        found = operand.make
    return tuple if issubclass(found, tuple) else found


def stored_generator(ctx: Context, operand: Operand) -> Exception:
    is_lazy = isinstance(operand, Generated) and operand.is_lazy
    return ctx.refusal(
        "E0113",
        "the items of a generator cannot be worked out one by one"
        if is_lazy
        else "an iterator gives its items once, and cannot be stored",
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
        refuse_if_long(ctx, make, len(items) * count)
        return Tuple(items * count, make)
    suggestion = "a tuple is taken apart at compile time: compute with its parts"
    raise no_operator(ctx, SYMBOLS[kind], left, right, suggestion)


def no_operator(
    ctx: Context, symbol: str, left: Operand, right: Operand, suggestion: str
) -> Exception:
    return ctx.refusal(
        "E0309",
        f"there is no `{symbol}` for {describe(left)} and {describe(right)}",
        secondary=ctx.beside((left, describe(left)), (right, describe(right))),
        help=suggestion,
    )


def is_bool(operand: Number) -> bool:
    if isinstance(operand, Num):
        return operand.dtype.is_bool
    return isinstance(operand.value, bool)


def _is_weak(operand: Number) -> bool:
    return isinstance(operand, Const) or operand.weak
