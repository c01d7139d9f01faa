"""The greater and the lesser of two numbers, and the extremes of many: what they mean.

Of a NaN and a number they give the number. `-0.0` is below `0.0`, as in `maximumNumber` of IEEE
754-2019: neither the order of operands nor that of a reduction can be seen. NumPy's own `fmax`
gives either zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eas.ir.ops.record import Array

Extreme = Callable[[Array, Array], Array]


def greater(a: Array, b: Array) -> Array:
    found: Any = np.fmax(a, b)
    is_zero: Any = _zeros(found, a, b)
    return found if is_zero is None else np.where(is_zero, np.add(a, b), found)


def lesser(a: Array, b: Array) -> Array:
    found: Any = np.fmin(a, b)
    is_zero: Any = _zeros(found, a, b)
    if is_zero is None:
        return found
    return np.where(is_zero, np.negative(np.add(np.negative(a), np.negative(b))), found)


def _zeros(found: Array, a: Array, b: Array) -> Array | None:
    """Where both are a zero; none if that is nowhere, as of integers."""
    if found.dtype.kind in "biu":
        return None
    is_zero: Any = (found == 0) & (a == b)
    return is_zero if is_zero.any() else None


def greatest(a: Array, axis: int) -> Array:
    """The greatest along an axis; of floats that are all NaN, minus infinity."""
    return _along(np.fmax, a, axis, -np.inf, is_max=True)


def least(a: Array, axis: int) -> Array:
    return _along(np.fmin, a, axis, np.inf, is_max=False)


def _along(ufunc: Any, a: Array, axis: int, worst: float, *, is_max: bool) -> Array:
    if a.dtype.kind in "biu":
        return ufunc.reduce(a, axis=axis)
    found: Any = ufunc.reduce(a, axis=axis, initial=a.dtype.type(worst))
    is_zero: Any = found == 0
    if not is_zero.any():
        return found
    is_best: Any = (a == 0) & (np.signbit(a) != is_max)
    zeros: Array = np.array([-0.0, 0.0]).astype(a.dtype)
    own: Array = zeros[(is_best.any(axis=axis) == is_max).astype(np.intp)]
    return np.where(is_zero, own, found)
