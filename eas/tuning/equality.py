"""Whether two results are the same, up to rounding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Relative to 1 + the largest expected value: candidates may add up in another order.
TOLERANCES = {
    "float64": 1e-9,
    "complex128": 1e-9,
    "float32": 1e-4,
    "complex64": 1e-4,
    "float16": 2e-2,
    "bfloat16": 4e-2,
}


def first_difference(
    expected: Mapping[str, Array], actual: Mapping[str, Array], tolerance: float | None = None
) -> str:
    """What differs first between two results, in words; empty if nothing does.

    Integers and booleans are compared exactly, and a NaN equals a NaN.
    """
    for name, wanted in expected.items():
        found = actual[name]
        if np.array_equal(wanted, found):  # most arrays are only read
            continue
        allowed = TOLERANCES.get(wanted.dtype.name, 0.0) if tolerance is None else tolerance
        wrong = np.argwhere(~_is_close(wanted, found, allowed))
        if len(wrong):
            index = tuple(map(int, wrong[0]))
            shown = ", ".join(map(str, index))
            return f"`{name}[{shown}]` is {found[index]} instead of {wanted[index]}"
    return ""


def _is_close(wanted: Array, found: Array, tolerance: float) -> Array:
    if wanted.dtype.name not in TOLERANCES:
        return np.asarray(wanted == found)
    return np.asarray(relative_errors(wanted, found) <= tolerance)


def relative_errors(wanted: Array, found: Array) -> Array:
    """The difference of each element, relative to one more than the largest finite one wanted.

    It is 0 for equal infinities and for two NaN, and infinite if one of the two is neither finite
    nor equal to the other.
    """
    kind = np.complex128 if wanted.dtype.kind == "c" else np.float64
    left, right = wanted.astype(kind), found.astype(kind)
    with np.errstate(invalid="ignore", over="ignore"):
        is_equal = (left == right) | (np.isnan(left) & np.isnan(right))
        finite = np.abs(left[np.isfinite(left)])
        largest = float(finite.max()) if finite.size else 0.0
        errors = np.abs(left - right) / (1.0 + largest)
        return np.where(is_equal, 0.0, np.where(np.isnan(errors), np.inf, errors))
