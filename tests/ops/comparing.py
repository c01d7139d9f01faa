"""Compares floats by how many numbers of their dtype lie between them."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def assert_close(result: Array, expected: Array, ulps: int, what: str) -> None:
    """Equal, or, of floats, at most so many units in the last place apart."""
    assert result.dtype == expected.dtype, what
    result, expected = result.ravel(), expected.ravel()
    if result.dtype.kind in "biu":
        np.testing.assert_array_equal(result, expected, err_msg=what)
        return
    distance = ulps_between(result, expected)
    worst = int(distance.argmax())
    assert distance[worst] <= ulps, (
        f"{what}: {result[worst]} instead of {expected[worst]}, {distance[worst]} ulps off"
    )


def ulps_between(a: Array, b: Array) -> Array:
    """How many steps from float to float it takes from `a` to `b`; none between two NaNs."""
    steps = np.abs(_ordered(a) - _ordered(b))
    return np.where(np.isnan(a) & np.isnan(b), 0, steps)


def _ordered(a: Array) -> Array:
    """Integers in the order of the floats."""
    bits = a.view(f"i{a.dtype.itemsize}").astype(np.int64)
    low = np.int64(-(1 << (a.dtype.itemsize * 8 - 1)))
    return np.where(bits < 0, low - bits, bits)
