"""Whether two results are the same, up to rounding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Relative to an element itself, and to the largest one: candidates may add up in another order, and
# where terms cancel, the rounding of the terms stays. That grows with the root of their number:
# sums of 65536 normal f32 in two orders differ by 3e-6 of the largest one, besides 1e-4 of
# themselves, and those of 16384 whose means alternate between 2 and -2 by 7e-6.
TOLERANCES = {
    "float64": (1e-9, 1e-12),
    "complex128": (1e-9, 1e-12),
    "float32": (1e-4, 2e-5),
    "complex64": (1e-4, 2e-5),
    "float16": (2e-2, 1e-2),
    "bfloat16": (4e-2, 2e-2),
}
_LEAST = 0.01  # added to the largest element: all may have cancelled


def first_difference(
    expected: Mapping[str, Array], actual: Mapping[str, Array], tolerance: float | None = None
) -> str:
    """What differs first between two results, in words; empty if nothing does.

    Integers and booleans are compared exactly, and a NaN equals a NaN. A tolerance is relative to
    the largest element; without one, the error of a small element has to be small.
    """
    for name, wanted in expected.items():
        found = actual[name]
        if np.array_equal(wanted, found):  # most arrays are only read
            continue
        wrong = np.argwhere(~_is_close(wanted, found, tolerance))
        if len(wrong):
            index = tuple(map(int, wrong[0]))
            shown = ", ".join(map(str, index))
            return f"`{name}[{shown}]` is {found[index]} instead of {wanted[index]}"
    return ""


def is_same(one: Mapping[str, Array], other: Mapping[str, Array]) -> bool:
    """Whether two results have the same bits: an answer that takes little time."""
    return all(_has_bits(wanted, other[name]) for name, wanted in one.items())


def _has_bits(one: Array, other: Array) -> bool:
    both = (one, other)
    if not all(each.flags.c_contiguous and each.nbytes % 8 == 0 for each in both):
        return np.array_equal(one, other)
    mine, others = (each.reshape(-1).view(np.uint64) for each in both)
    return np.array_equal(mine, others)


def _is_close(wanted: Array, found: Array, tolerance: float | None) -> Array:
    if wanted.dtype.name not in TOLERANCES:
        return np.asarray(wanted == found)
    errors = relative_errors(wanted, found)
    if tolerance is not None:
        return np.asarray(errors <= tolerance)
    of_own, of_largest = TOLERANCES[wanted.dtype.name]
    sizes = _sizes(wanted)
    return np.asarray(errors <= of_own * sizes / _scale(sizes) + of_largest)


def relative_errors(wanted: Array, found: Array) -> Array:
    """The difference of each element, relative to a little more than the largest finite one wanted.

    It is 0 for equal infinities and for two NaN, and infinite if one of the two is neither finite
    nor equal to the other.
    """
    left, right = _widened(wanted), _widened(found)
    with np.errstate(invalid="ignore", over="ignore"):
        is_equal = (left == right) | (np.isnan(left) & np.isnan(right))
        errors = np.abs(left - right) / _scale(_sizes(wanted))
        return np.where(is_equal, 0.0, np.where(np.isnan(errors), np.inf, errors))


def _widened(array: Array) -> Array:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _sizes(array: Array) -> Array:
    """The absolute values of the elements, 0 for those that are not finite."""
    return np.abs(np.where(np.isfinite(array), _widened(array), 0))


def _scale(sizes: Array) -> float:
    return _LEAST + float(sizes.max(initial=0.0))
