"""How numbers of different types are combined: promotion, conversion of constants, broadcasting.

The rules, in order:
1. Two constants are computed by Python itself, before this module is asked.
2. A bool counts as a (weak) i32 in arithmetic.
3. A constant takes the other side's dtype if that can hold it; a float constant makes an int f32.
4. A weak value (made of literals only) takes the other side's dtype if that is at least as wide.
5. The wider float wins; a float wins over an int; of two ints of one signedness the wider wins, and
   a signed int wins over a narrower unsigned one. Everything else (signed with unsigned, f16 with
   bf16) is refused: the user says which.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from eas.frontend_ast.context import Context
from eas.frontend_ast.fixes import converted, rewrite
from eas.frontend_ast.operands import (
    NONE,
    Array,
    ArrayPointer,
    Closure,
    Const,
    Generated,
    LocalArray,
    Method,
    Num,
    Operand,
    Poison,
    Range,
    RecordMethod,
    Text,
    Tuple,
)
from eas.ir.ops import OPS
from eas.ir.rounding import as_stored, fits
from eas.ir.types import (
    BF16,
    BOOL,
    F16,
    F32,
    I32,
    I64,
    U64,
    DType,
    Shape,
    broadcast_shapes,
    from_numpy,
)
from eas.support.diagnostics import Fix

Number = Const | Num

_MAX_SHOWN = 20
_NUMERIC = (bool, int, float, np.number, np.bool_)


def describe(operand: Operand) -> str:
    """An operand in the words of an error message."""
    match operand:
        case Const(value=None):
            return "None"
        case Const(value=value):
            return _describe_constant(value)
        case Num():
            return str(operand.value.ty)
        case Array():
            return f"the array `{operand.name}`"
        case LocalArray():
            return f"the array `{operand.name}`"
        case ArrayPointer():
            return f"a pointer into `{operand.array.name}`"
        case Tuple(items=items, make=make):
            kind = f"{'an' if make.__name__[0] in 'AEIOaeio' else 'a'} {make.__name__}"
            return f"{kind} of {len(items)}" if make in (tuple, list) else kind
        case Generated():
            return "a generator"
        case Range():
            return "a range"
        case Closure(node=ast.Lambda()):
            return "a lambda"
        case Closure() | Method() | RecordMethod():
            return f"the function `{operand.name}`"
        case Text():
            return "a string"
        case Poison():
            return "a value with an error"


def is_numeric(value: object) -> bool:
    """Whether a constant can become a scalar."""
    return isinstance(value, _NUMERIC)


def number(ctx: Context, operand: Operand, what: str = "a number") -> Number:
    """The operand, if it is a number; else an error."""
    match operand:
        case Num():
            return operand
        case Const(value=value) if is_numeric(value):
            return operand
        case _:
            raise ctx.refusal(
                "E0302",
                f"{what} is needed, this is {describe(operand)}",
                at=operand,
                help=_suggestions(ctx, operand),
            )


def constant_dtype(ctx: Context, constant: Const) -> DType:
    """The dtype that a constant has by itself."""
    value = constant.value
    found = _numpy_scalar_dtype(value)
    if found is not None:
        return found
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, float):
        return F32
    assert isinstance(value, int)
    for dtype in (I32, I64, U64):
        if dtype.min <= value <= dtype.max:
            return dtype
    raise ctx.refusal(
        "E0303",
        f"{value} does not fit any integer type",
        at=constant,
        help=_as_float(ctx, constant, value) if value.bit_length() < 1024 else (),
    )


def _as_float(ctx: Context, constant: Const, value: int) -> Fix | str:
    help, loc = f"write it as a float: `{float(value)}`", ctx.place(constant)
    is_literal = ctx.written_at(loc).replace("_", "") == str(value)
    return rewrite(help, loc, str(float(value))) if is_literal else help


def _numpy_scalar_dtype(value: Any) -> DType | None:
    return from_numpy(value.dtype) if _is_numpy(value) else None


def _is_numpy(value: object) -> bool:
    return isinstance(value, np.generic)


def materialize(ctx: Context, operand: Number, dtype: DType | None = None) -> Num:
    """A constant as a scalar of a dtype (its own by default); a runtime value is converted."""
    if isinstance(operand, Num):
        return operand if dtype is None else cast(ctx, operand, dtype)
    value = operand.value
    weak = dtype is None and not _is_numpy(value)
    dtype = dtype or constant_dtype(ctx, operand)
    if not fits(value, dtype) and not (
        dtype.is_bool or (isinstance(value, float) and dtype.is_int)
    ):
        raise ctx.refusal(
            "E0303",
            f"{value} does not fit {dtype}",
            at=operand,
            notes=(f"{dtype} goes from {dtype.min} to {dtype.max}",) if dtype.is_int else (),
            help="convert the other operand to a wider type, or change the constant",
        )
    return Num(ctx.build.constant(as_stored(value, dtype), dtype), weak and dtype is not BOOL)


def cast(ctx: Context, num: Num, dtype: DType) -> Num:
    if num.dtype == dtype:
        return num if not num.weak else Num(num.value)
    return ctx.compute("cast", num.value, dtype=dtype)


def widen(ctx: Context, array: Array, offset: Number) -> Number:
    """An offset before it is added to others: as wide as offsets into the array need to be.

    A constant takes the width of what it is added to.
    """
    if isinstance(offset, Const) or not offset.dtype.is_int:
        return offset
    return cast(ctx, offset, I64) if offset.dtype.bits < array.index_dtype.bits == 64 else offset


def broadcast(ctx: Context, num: Num, shape: Shape) -> Num:
    """The value with this shape, which its own fits into by NumPy's rule."""
    if num.shape == shape:
        return num
    if not num.shape:
        return Num(ctx.compute("splat", num.value, shape=shape).value, num.weak)
    value = num.value
    for _ in range(len(shape) - len(num.shape)):
        value = ctx.compute("expand_dims", value, axis=0).value
    if value.shape != shape:
        value = ctx.compute("broadcast", value, shape=shape).value
    return Num(value, num.weak)


def aligned(shape: Shape, rank: int) -> Shape:
    """The shape of a block with axes of extent 1 in front, up to a rank; that of a scalar stays."""
    return (1,) * (rank - len(shape)) + shape if shape else shape


def fitting_shape(a: Shape, b: Shape) -> Shape | None:
    """The shape that blocks of two shapes broadcast to: the last axes are aligned, as in NumPy."""
    rank = max(len(a), len(b))
    return broadcast_shapes(aligned(a, rank), aligned(b, rank))


def common_shape(ctx: Context, nums: Sequence[Number]) -> Shape:
    shape: Shape = ()
    for num in nums:
        if isinstance(num, Num) and num.shape != shape:
            both = fitting_shape(shape, num.shape)
            if both is None:
                raise _no_common_shape(ctx, shape, num, nums)
            shape = both
    return shape


def _no_common_shape(ctx: Context, shape: Shape, num: Num, nums: Sequence[Number]) -> Exception:
    blocks = [n for n in nums if isinstance(n, Num)]
    other = next((b for b in blocks if fitting_shape(b.shape, num.shape) is None), num)
    return ctx.refusal(
        "E0304",
        f"blocks of the shapes {list(shape)} and {list(num.shape)} do not fit together",
        at=num,
        label=str(list(num.shape)),
        secondary=ctx.beside((other, str(list(other.shape)))),
        notes=("the last axes are aligned, and each two are equal or one of them is 1",),
        help="add axes of extent 1: `x[:, None]`, `x[None, :]`",
    )


def to_bool(ctx: Context, operand: Operand) -> Number:
    """Whether a value counts as true, as Python's `bool` says."""
    match operand:
        case Num() if operand.dtype.is_bool:
            return operand
        case Num():
            zero = broadcast(ctx, materialize(ctx, Const(0), operand.dtype), operand.shape)
            return ctx.compute("ne", operand.value, zero.value)
        case Const(value=value):
            return Const(bool(value))
        case Tuple(items=items, make=make):
            return Const(bool(items) or not issubclass(make, tuple | list))
        case Range(known=range() as known):
            return Const(bool(known))
        case Range():
            raise ctx.refusal(
                "E0305",
                "whether this range is empty is known at run time only",
                at=operand,
                help="compare its bounds: `start < stop`",
            )
        case Array() | ArrayPointer():
            raise ctx.refusal(
                "E0305",
                f"{describe(operand)} is neither true nor false",
                at=operand,
                help="test an element, or what `mk.any` or `mk.all` says of a block",
            )
        case _:
            return Const(True)


def common_dtype(ctx: Context, numbers: Sequence[Number]) -> DType:
    """The common dtype of these numbers in arithmetic."""
    typed: list[Number] = []
    weak: list[DType] = []
    constants: list[Const] = []
    for num in numbers:
        if isinstance(num, Const):
            constants.append(num)
            typed += [num] if _is_numpy(num.value) else []
        elif _is_weak(num):
            weak.append(_weak_dtype(num))
        else:
            typed.append(num)
    if typed:
        dtype = _combine(ctx, typed)
        for each in weak:
            dtype = _adapt(dtype, each)
    elif weak:
        dtype = max(weak, key=lambda d: (d.is_float, d.bits))
    else:
        dtype = _constants_dtype(ctx, constants)
    return F32 if dtype.is_int and any(isinstance(c.value, float) for c in constants) else dtype


def promote(ctx: Context, numbers: Sequence[Number], dtype: DType | None = None) -> list[Num]:
    """The numbers as values of one dtype and one shape."""
    if dtype is None:
        dtype = common_dtype(ctx, numbers)
    shape = common_shape(ctx, numbers)
    # a bool adapts to numbers in arithmetic by itself; as a bool it combines with bools only
    weak = not dtype.is_bool and all(isinstance(n, Const) or _is_weak(n) for n in numbers)
    converted = [_converted(ctx, n, dtype, shape) for n in numbers]
    return [n if n.weak == weak else Num(n.value, weak) for n in converted]


def add(ctx: Context, a: Number, b: Number) -> Num:
    """The sum of two numbers in their common type."""
    x, y = promote(ctx, [a, b])
    return ctx.compute("add", x.value, y.value)


def _converted(ctx: Context, num: Number, dtype: DType, shape: Shape) -> Num:
    if isinstance(num, Num) and num.dtype is dtype and num.shape == shape:
        return num
    return broadcast(ctx, materialize(ctx, num, dtype), shape)


def _is_weak(num: Num) -> bool:
    return num.weak or num.dtype.is_bool


def _weak_dtype(num: Num) -> DType:
    return I32 if num.dtype.is_bool else num.dtype


def _constants_dtype(ctx: Context, constants: Sequence[Const]) -> DType:
    dtypes = [constant_dtype(ctx, c) for c in constants]
    ints = [I32 if d.is_bool else d for d in dtypes]
    return max(ints, key=lambda d: (d.is_float, d.bits))


def _adapt(strong: DType, weak: DType) -> DType:
    """The dtype of a weak value with a strong one: the strong, unless it would lose digits."""
    if strong.is_float and not weak.is_float:
        return strong
    if weak.is_float and not strong.is_float:
        return weak
    return strong if strong.bits >= weak.bits else weak


def _combine(ctx: Context, numbers: Sequence[Number]) -> DType:
    dtypes = [_own_dtype(ctx, n) for n in numbers]
    result = dtypes[0]
    for place, other in enumerate(dtypes):
        common = result if other is result else _common_dtype(result, other)
        if common is None:
            first = dtypes.index(result)
            raise _no_common_type(ctx, (numbers[first], result), (numbers[place], other))
        result = common
    return result


def _own_dtype(ctx: Context, num: Number) -> DType:
    return num.dtype if isinstance(num, Num) else constant_dtype(ctx, num)


def _common_dtype(a: DType, b: DType) -> DType | None:
    if a == b:
        return a
    if a.is_float != b.is_float:
        return a if a.is_float else b
    if {a, b} == {F16, BF16}:
        return None
    if a.is_float or a.is_signed == b.is_signed:
        return a if a.bits > b.bits else b
    signed, unsigned = (a, b) if a.is_signed else (b, a)
    return signed if signed.bits > unsigned.bits else None


def _no_common_type(
    ctx: Context, first: tuple[Number, DType], second: tuple[Number, DType]
) -> Exception:
    a, b = first[1], second[1]
    return ctx.refusal(
        "E0306",
        f"{a} and {b} have no common type",
        at=second[0],
        label=str(b),
        secondary=ctx.beside((first[0], str(a))),
        notes=("neither type holds all the values of the other",),
        help=converted(
            ctx,
            f"say which you mean: `.to(mk.{a})` or `.to(mk.{b})` on one of them",
            ctx.place(second[0]),
            a,
        ),
    )


def _describe_constant(value: Any) -> str:
    if isinstance(value, str):
        return f"the string {value!r}" if len(value) <= _MAX_SHOWN else "a string"
    if isinstance(value, bool | int | float):
        return f"the {type(value).__name__} {value}"
    if isinstance(value, DType):
        return f"the dtype {value}"
    if callable(value):
        return f"the function `{getattr(value, '__name__', value)}`"
    if type(value) in (tuple, list):
        return f"a {type(value).__name__} of {len(value)}"
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _suggestions(ctx: Context, operand: Operand) -> tuple[Fix | str, ...]:
    match operand:
        case Array() as array:
            return (f"load an element first: `{array.name}[i]` or `mk.load({array.name}, i)`",)
        case ArrayPointer(array=array):
            return (f"load what it points to: `mk.load({array.name} + ...)`",)
        case Tuple():
            return ("take one of its parts: `t[0]`",)
        case Const(value=value) if callable(value) and not isinstance(value, type):
            return (_called(ctx, operand, value),)
        case Closure():
            return (f"call it: `{operand.name}(...)`",) if operand.name.isidentifier() else ()
        case _:
            return why_none(ctx, operand)


def _called(ctx: Context, operand: Operand, function: Any) -> Fix | str:
    """A call of a function that stands where a number is needed."""
    place = ctx.place(operand)
    written = ctx.written_at(place) or function.__name__
    op = OPS.get(getattr(function, "__eas_intrinsic__", ""))
    if op is None or "axis" not in op.attrs or not op.positional:
        return f"call it: `{written}(...)`"
    return rewrite(f"call it: `{written}(0)`", place, f"{written}(0)")


def why_none(ctx: Context, operand: Operand) -> tuple[str, ...]:
    """Where a None may come from, and what to do about it; nothing if it is none."""
    if operand != NONE:
        return ()
    written = ctx.written_at(ctx.place(operand))
    if written.isidentifier() and written != "None":
        return (f"`{written}` is None here; test it before: `if {written} is not None:`",)
    return ("a function without `return` gives None",) if written.endswith(")") else ()
