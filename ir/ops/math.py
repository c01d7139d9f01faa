"""Functions of floats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from eas.ir.ops.extremes import greater, lesser
from eas.ir.ops.fused import fused
from eas.ir.ops.record import Array, OpDef
from eas.ir.ops.typing_rules import (
    is_float,
    is_number,
    same_type,
    through_f32,
    through_f64,
    to_bool,
)
from eas.ir.rounding import as_dtype
from eas.ir.types import F64

_FLOATS = same_type(is_float, "floats")
_NUMBERS = same_type(is_number, "numbers")
_TESTED = to_bool(is_float, "floats")


def _rsqrt(a: Array) -> Array:
    wide: Any = a.astype(F64.numpy)
    return as_dtype(1.0 / np.sqrt(wide), a.dtype)


def _sigmoid(a: Array) -> Array:
    # In f32 the rounding of three steps would add up, and exp(-a) overflow where 1 / it does not.
    wide: Any = a.astype(F64.numpy)
    return as_dtype(1.0 / (1.0 + np.exp(-wide)), a.dtype)


_erf_exact = np.vectorize(math.erf, otypes=[F64.numpy])


def _erf(a: Array) -> Array:
    return as_dtype(_erf_exact(a), a.dtype) if a.size else a


def _clamp(a: Array, low: Array, high: Array) -> Array:
    return lesser(greater(a, low), high)


def _unary(name: str, meaning: Any, doc: str) -> OpDef:
    return OpDef(name, ("a",), _FLOATS, through_f32(meaning), doc)


def _rounded(name: str, meaning: Any, doc: str, operands: tuple[str, ...] = ("a",)) -> OpDef:
    return OpDef(name, operands, _FLOATS, through_f32(meaning), doc, ulps=2)


def _function(name: str, ufunc: np.ufunc, doc: str, operands: tuple[str, ...] = ("a",)) -> OpDef:
    return _rounded(name, through_f64(ufunc), doc, operands)


MATH = (
    _unary("ceil", np.ceil, "the least integer that is not below a, as a float"),
    _unary("floor", np.floor, "the greatest integer that is not above a, as a float"),
    _unary("round", np.rint, "the nearest integer, halves to even, as a float"),
    _unary("trunc", np.trunc, "a without its fraction, as a float"),
    _function("exp", np.exp, "e to the power of a"),
    _function("exp2", np.exp2, "2 to the power of a"),
    _function("expm1", np.expm1, "e to the power of a, minus 1"),
    _function("log", np.log, "the natural logarithm"),
    _function("log2", np.log2, "the logarithm to base 2"),
    _function("log10", np.log10, "the logarithm to base 10"),
    _function("log1p", np.log1p, "the natural logarithm of 1 + a"),
    _unary("sqrt", np.sqrt, "the square root"),
    _rounded("rsqrt", _rsqrt, "1 / sqrt(a)"),
    _function("sin", np.sin, "the sine of an angle in radians"),
    _function("cos", np.cos, "the cosine of an angle in radians"),
    _function("tan", np.tan, "the tangent of an angle in radians"),
    _function("asin", np.arcsin, "the angle whose sine is a"),
    _function("acos", np.arccos, "the angle whose cosine is a"),
    _function("atan", np.arctan, "the angle whose tangent is a"),
    _function("sinh", np.sinh, "the hyperbolic sine"),
    _function("cosh", np.cosh, "the hyperbolic cosine"),
    _function("tanh", np.tanh, "the hyperbolic tangent"),
    _rounded("erf", _erf, "the error function"),
    _rounded("sigmoid", _sigmoid, "1 / (1 + exp(-a))"),
    OpDef("sign", ("a",), _NUMBERS, through_f32(np.sign), "-1, 0 or 1, of a's dtype"),
    _function("pow", np.power, "a to the power of b", ("a", "b")),
    _function("atan2", np.arctan2, "the angle of the point (x, y)", ("y", "x")),
    OpDef("copysign", ("a", "b"), _FLOATS, np.copysign, "the size of a with the sign of b"),
    OpDef("fma", ("a", "b", "c"), _FLOATS, fused, "a * b + c, rounded once"),
    OpDef("clamp", ("a", "low", "high"), _NUMBERS, _clamp, "a, but not below low or above high"),
    OpDef("isnan", ("a",), _TESTED, np.isnan, "whether a is not a number"),
    OpDef("isinf", ("a",), _TESTED, np.isinf, "whether a is an infinity"),
    OpDef("isfinite", ("a",), _TESTED, np.isfinite, "whether a is neither infinite nor NaN"),
)
