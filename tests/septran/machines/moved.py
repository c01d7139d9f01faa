"""Operators that move to a machine of their own by one mapping each, at odd sizes."""

from __future__ import annotations

import pytest

from eas.septran.operators import Operator
from tests.septran.operators import EXAMPLES, Sizes, error_of
from tests.thorough import thorough

EXAMPLE = {example.name: example for example in EXAMPLES}

at_odd_sizes = pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("gemm", (37, 45, 67)),
        ("softmax", (13, 101)),
        ("flash_attention", (2, 37, 53, 24)),
        pytest.param("gemm", (1, 1, 1), marks=thorough),
        pytest.param("flash_attention", (3, 5, 29, 17), marks=thorough),
    ],
)


def is_right(operator: Operator, name: str, sizes: Sizes, dtype: str) -> bool:
    """Whether an operator gives the result of NumPy, up to rounding."""
    arrays, expected = EXAMPLE[name].make(sizes, dtype)
    operator(*arrays)
    return error_of(arrays[0], expected) <= {"f4": 2e-5, "f2": 2e-2}[dtype]
