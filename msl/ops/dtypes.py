"""Metal's names for dtypes, and literals of each."""

from __future__ import annotations

import math

import numpy as np

from eas.ir.types import BF16, F16, F32, I32, DType
from eas.msl.ops.text import Level, Text

TYPE_NAMES = {
    "bool": "bool",
    "i8": "char",
    "i16": "short",
    "i32": "int",
    "i64": "long",
    "u8": "uchar",
    "u16": "ushort",
    "u32": "uint",
    "u64": "ulong",
    "f16": "half",
    "bf16": "bfloat",
    "f32": "float",
}
_SUFFIXES = {"i32": "", "u32": "u", "i64": "L", "u64": "UL"}


def type_name(dtype: DType) -> str:
    return TYPE_NAMES[dtype.name]


def is_narrow_int(dtype: DType) -> bool:
    """An integer that C++ computes with as `int`."""
    return dtype.is_int and dtype.bits < 32


def unsigned(dtype: DType) -> str:
    """The name of the unsigned type of the same width."""
    return {8: "uchar", 16: "ushort", 32: "uint", 64: "ulong"}[dtype.bits]


def literal(value: bool | int | float, dtype: DType) -> Text:
    if dtype.is_bool:
        return Text("true" if value else "false")
    if dtype.is_float:
        return _float_literal(float(value), dtype)
    return _int_literal(int(value), dtype)


def _int_literal(value: int, dtype: DType) -> Text:
    if dtype == I32 and value in (dtype.min, dtype.max):
        return Text("INT_MIN" if value < 0 else "INT_MAX")
    if dtype.bits == 64 and value == dtype.min and dtype.is_signed:
        return Text(f"({value + 1}L - 1)")
    if dtype.bits < 32:
        return Text(f"{type_name(dtype)}({value})", bare=str(value) if value >= 0 else "")
    level = Level.PRIMARY if value >= 0 else Level.UNARY
    return Text(f"{value}{_SUFFIXES[dtype.name]}", level)


def _float_literal(value: float, dtype: DType) -> Text:
    if dtype == BF16:
        bfloat16 = dtype.numpy.type
        rounded = bfloat16(value)
        exact = bfloat16(np.float32(value)) == rounded
        return Text(f"bfloat({_float_literal(value if exact else float(rounded), F32).text})")
    with np.errstate(over="ignore"):
        rounded = np.float16(value) if dtype == F16 else np.float32(value)
    if not np.isfinite(rounded):
        return _special_literal(float(rounded), dtype)
    digits = np.format_float_positional(rounded, trim="0")
    if len(digits) > 12:
        digits = np.format_float_scientific(rounded, trim="-", exp_digits=1)
    text = digits + ("h" if dtype == F16 else "f")
    return Text(text, Level.UNARY if text.startswith("-") else Level.PRIMARY)


def _special_literal(value: float, dtype: DType) -> Text:
    name = "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
    if dtype == F16:
        return Text(f"half({name})")
    return Text(name, Level.UNARY if name.startswith("-") else Level.PRIMARY)


def greatest(dtype: DType) -> Text:
    """The literal of the greatest value of a dtype."""
    return literal(math.inf if dtype.is_float else dtype.max, dtype)


def least(dtype: DType) -> Text:
    """The literal of the least value of a dtype."""
    return literal(-math.inf if dtype.is_float else dtype.min, dtype)
