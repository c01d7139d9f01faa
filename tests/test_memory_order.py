"""Random kernels that read what they have written find what NumPy would find, on every backend.

`EAS_FUZZ_MEMORY=10000 uv run pytest tests/test_memory_order.py` runs that many programs.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tests.backends import BACKENDS
from tests.fuzz.memory import PROGRAMS, run_in_numpy, write_kernel
from tests.fuzz.running import load
from tests.thorough import batches

KERNELS_PER_TEST = 5
NUMBERS = batches("EAS_FUZZ_MEMORY", KERNELS_PER_TEST, always=5, thoroughly=30)


@pytest.mark.parametrize("number", NUMBERS)
def test_loads_find_what_stores_before_them_have_left(number: int) -> None:
    for seed in range(number * KERNELS_PER_TEST, (number + 1) * KERNELS_PER_TEST):
        check(*write_kernel(Random(seed)), seed)


def check(text: str, in_numpy: str, size: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    given = random.integers(-9, 9, (3, PROGRAMS * size)).astype("i4")
    expected = given.copy()
    with np.errstate(over="ignore"):
        run_in_numpy(in_numpy, expected[0], expected[1], expected[2], 3)
    kernel = load(text)["shuffle"]
    for backend in BACKENDS:
        found = given.copy()
        kernel[PROGRAMS](*found, 3, _backend=backend)
        for name, a, b in zip(("x", "y", "out"), found, expected, strict=True):
            np.testing.assert_array_equal(a, b, f"{name} on {backend}, seed {seed}:\n\n{text}")
