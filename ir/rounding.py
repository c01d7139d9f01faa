"""Conversion of numbers to a dtype, with one rounding; NumPy's of f64 to bf16 has two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from eas.ir.types import BF16, F32, F64, DType, from_numpy

Array = np.ndarray[Any, Any]
_SMALL = 65504.0  # the greatest f16: every float format holds the numbers up to it


def as_dtype(a: Array, dtype: np.dtype[Any]) -> Array:
    if a.dtype == F64.numpy and from_numpy(dtype) is BF16:
        a = _to_odd(a)
    return a.astype(dtype)


def _to_odd(a: Array) -> Array:
    """The f32 next to an f64, rounded to odd: that can be rounded again without an error."""
    with np.errstate(all="ignore"):
        near = a.astype(F32.numpy)
        back = near.astype(F64.numpy)
    bits = near.view(np.int32)
    moves = (bits & 1 == 0) & (back != a) & ~np.isnan(a)
    away = np.where(np.abs(back) < np.abs(a), 1, -1)
    return np.where(moves, bits + away, bits).astype(np.int32).view(F32.numpy)


def as_stored(value: object, dtype: DType) -> bool | int | float:
    """A constant as the dtype stores it."""
    if (type(value) is int and dtype.is_int) or (type(value) is bool and dtype.is_bool):
        return value
    with np.errstate(all="ignore"):
        stored = as_dtype(np.asarray(value), dtype.numpy)
    if dtype.is_float:
        result = float(stored)
        return float("nan") if result != result else result
    return bool(stored) if dtype.is_bool else int(stored)


def fits(constant: Any, dtype: DType) -> bool:
    """Whether a dtype can hold a constant, rounding of floats aside."""
    value: object = _as_python(constant)
    if dtype.is_bool:
        return isinstance(value, bool)
    if dtype.is_int:
        return isinstance(value, int) and dtype.min <= value <= dtype.max
    assert isinstance(value, bool | int | float)
    try:
        exact = float(value)
    except OverflowError:
        return False
    if abs(exact) <= _SMALL:
        return True
    return math.isfinite(as_stored(exact, dtype)) or not math.isfinite(exact)


def _as_python(value: Any) -> object:
    return value.item() if _is_numpy(value) else value


def _is_numpy(value: object) -> bool:
    return isinstance(value, np.generic)
