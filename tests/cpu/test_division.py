"""Blocks divided by one number, by multiplication with its reciprocal: exact for all quotients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk

Array = np.ndarray[Any, np.dtype[Any]]


@eas.kernel
def divide(a, by, quotients, rests, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    number, divisor = mk.load(a, i, i < N), mk.load(by, 0)
    mk.store(quotients, i, number // divisor, i < N)
    mk.store(rests, i, number % divisor, i < N)


def near_multiples(dtype: type, divisor: int) -> Array:
    """Numbers at and beside multiples of a divisor, from the least to the greatest there is."""
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    step = max((most - least) // (300 * abs(divisor)), 1) * abs(divisor)
    found = {n + by for n in range(least // step * step, most, step) for by in (-1, 0, 1)}
    found |= {least, least + 1, most - 1, most}
    return np.array(sorted(n for n in found if least <= n <= most), dtype)


@pytest.mark.parametrize("divisor", [1, 2, 3, 7, 100, -1, -3, -100])
@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int16, np.uint16, np.int8, np.uint8])
def test_quotients_by_one_number_are_those_of_python(dtype: type, divisor: int) -> None:
    if divisor < np.iinfo(dtype).min:
        pytest.skip("there are no negative ones")
    a, by = near_multiples(dtype, divisor), np.array([divisor], dtype)
    quotients, rests = np.zeros_like(a), np.zeros_like(a)
    divide(a, by, quotients, rests, len(a), BLOCK=64, _backend="cpu")
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(quotients, a // by)
        np.testing.assert_array_equal(rests, a % by)


@pytest.mark.parametrize("divisor", [2**31 - 1, 2**31 - 2, 65537, -(2**31)])
def test_large_divisors_leave_no_rounding_errors(divisor: int) -> None:
    a, by = near_multiples(np.int32, 65537), np.array([divisor], np.int32)
    quotients, rests = np.zeros_like(a), np.zeros_like(a)
    divide(a, by, quotients, rests, len(a), BLOCK=64, _backend="cpu")
    np.testing.assert_array_equal(quotients, a // by)
    np.testing.assert_array_equal(rests, a % by)
