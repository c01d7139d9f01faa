"""The LLVM types of numbers: in registers, and in memory.

`f16` and `bf16` are `float` in registers, rounded after each op; a bool is a byte in memory.
"""

from __future__ import annotations

from eas.ir.types import DType
from eas.llvm.emit.emit import Emitter, V, const, is_float, like

_FLOATS = {"f16": "float", "bf16": "float", "f32": "float", "f64": "double"}


def register(dtype: DType) -> str:
    return _FLOATS.get(dtype.name) or f"i{dtype.bits}"


def stored(dtype: DType) -> str:
    """The type in an array."""
    special = {"bool": "i8", "f16": "half", "bf16": "i16"}
    return special.get(dtype.name) or register(dtype)


def size_of(dtype: DType) -> int:
    return max(dtype.bits // 8, 1)


def is_narrow(dtype: DType) -> bool:
    return dtype.is_float and dtype.bits == 16


def to_register(e: Emitter, v: V, dtype: DType) -> V:
    """Converts a number that was loaded from an array to its type in registers."""
    match dtype.name:
        case "bool":
            return e.icmp("ne", v, const(v.ty, 0))
        case "f16":
            return e.cast("fpext", v, "float")
        case "bf16":
            wide = e.cast("zext", v, "i32")
            return e.floats(e.binary("shl", wide, const(wide.ty, 16)))
        case _:
            return v


def to_stored(e: Emitter, v: V, dtype: DType) -> V:
    match dtype.name:
        case "bool":
            return e.cast("zext", v, "i8")
        case "f16":
            return e.cast("fptrunc", v, "half")
        case "bf16":
            bits = e.bits(v)  # of a rounded number: the lower half is zero
            return e.cast("trunc", e.binary("lshr", bits, const(bits.ty, 16)), "i16")
        case _:
            return v


def rounded(e: Emitter, v: V, dtype: DType) -> V:
    """Rounds a float to a 16-bit dtype. For other dtypes it is unchanged."""
    if not is_narrow(dtype) or not is_float(v.ty):
        return v
    if dtype.name == "f16":
        return e.cast("fpext", e.cast("fptrunc", v, "half"), "float")
    bits = _bf16_bits(e, v)
    return e.floats(e.binary("shl", bits, const(bits.ty, 16)))


def _bf16_bits(e: Emitter, v: V) -> V:
    """The upper half of a float's bits, rounded to nearest even. A NaN stays a NaN."""
    bits = e.bits(v)
    sixteen = const(bits.ty, 16)
    lowest = e.and_(e.binary("lshr", bits, sixteen), const(bits.ty, 1))
    bias = e.add(lowest, const(bits.ty, 0x7FFF))
    near = e.binary("lshr", e.add(bits, bias), sixteen)
    quiet = e.or_(e.binary("lshr", bits, sixteen), const(bits.ty, 0x40))
    return e.select(e.fcmp("uno", v, v), quiet, near)


def odd_sum(e: Emitter, a: V, b: V) -> V:
    """The sum of two doubles, rounded to odd, so that rounding it again is correct."""
    total = e.fadd(a, b)
    part = e.fsub(total, a)
    lost = e.fadd(e.fsub(a, e.fsub(total, part)), e.fsub(b, part))
    bits, zero = e.bits(total), const(a.ty, 0.0)
    one = const(bits.ty, 1)
    is_away = e.icmp("eq", e.fcmp("ogt", lost, zero), e.fcmp("ogt", total, zero))
    other = e.select(is_away, e.add(bits, one), e.binary("sub", bits, one))
    is_even = e.icmp("eq", e.and_(bits, one), const(bits.ty, 0))
    moves = e.and_(is_even, e.fcmp("one", lost, zero))
    return e.floats(e.select(moves, other, bits))


def to_single(e: Emitter, v: V) -> V:
    """A double as a float, rounded to odd, so that rounding it again to 16 bits is correct."""
    near = e.cast("fptrunc", v, "float")
    back = e.cast("fpext", near, "double")
    bits = e.bits(near)
    one = const(bits.ty, 1)
    away = e.fcmp("olt", e.intrinsic("fabs", back), e.intrinsic("fabs", v))
    other = e.select(away, e.add(bits, one), e.binary("sub", bits, one))
    is_even = e.icmp("eq", e.and_(bits, one), const(bits.ty, 0))
    moves = e.and_(is_even, e.fcmp("one", back, v))
    return e.bitcast(e.select(moves, other, bits), like(v, "float"))
