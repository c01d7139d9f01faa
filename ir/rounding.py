"""Conversion of arrays to a dtype, with one rounding; NumPy's of f64 to bf16 has two."""

from __future__ import annotations

from typing import Any

import numpy as np

from eas.ir.types import BF16, F32, F64, from_numpy

Array = np.ndarray[Any, Any]


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
