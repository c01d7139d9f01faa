"""Loops over ranges of integers of every width, each on every backend: as Python counts."""

from __future__ import annotations

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.types import DTYPES
from tests.backends import BACKENDS

RANGES = [(0, 9, 1), (3, 100, 7), (90, 127, 60), (5, 5, 1), (9, 2, 3)]
DOWN = [(9, 0, -1), (100, -100, -61), (2, 9, -3)]


@eas.kernel
def numbers(out, start, stop, step):
    place = 0
    for i in range(start, stop, step):
        mk.store(out, place, i)
        place = place + 1


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [name for name, dtype in DTYPES.items() if dtype.is_int])
def test_a_range_of_unknown_bounds_and_step_counts_as_python_does(dtype: str, backend: str) -> None:
    convert = DTYPES[dtype].numpy.type
    for start, stop, step in RANGES if dtype.startswith("u") else RANGES + DOWN:
        out = np.zeros(16, convert)
        numbers[1](out, convert(start), convert(stop), convert(step), _backend=backend)
        counted = list(range(start, stop, step))
        assert out.tolist() == counted + [0] * (16 - len(counted))
