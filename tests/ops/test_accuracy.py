"""How exact the functions are on each backend, for arguments of all sizes and special ones."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from eas.ir.ops import OPS
from eas.ir.types import BF16, F16, F32, DType
from tests.ops.accuracy import BACKENDS, FUNCTIONS, NAMES, run, worst
from tests.ops.test_matrix import both_backends
from tests.thorough import on_backends, sampled

PAGE = Path(__file__).parents[2] / "docs/accuracy.md"
STRIDE = 65_521
LIMIT = 2

inf, nan = math.inf, math.nan

# What each function gives at zero, minus zero, infinity and minus infinity.
SPECIAL: dict[str, tuple[float, float, float, float]] = {
    "exp": (1, 1, inf, 0),
    "exp2": (1, 1, inf, 0),
    "expm1": (0, -0.0, inf, -1),
    "log": (-inf, -inf, inf, nan),
    "log2": (-inf, -inf, inf, nan),
    "log10": (-inf, -inf, inf, nan),
    "log1p": (0, -0.0, inf, nan),
    "sqrt": (0, -0.0, inf, nan),
    "rsqrt": (inf, -inf, 0, nan),
    "sin": (0, -0.0, nan, nan),
    "cos": (1, 1, nan, nan),
    "tan": (0, -0.0, nan, nan),
    "asin": (0, -0.0, nan, nan),
    "acos": (math.pi / 2, math.pi / 2, nan, nan),
    "atan": (0, -0.0, math.pi / 2, -math.pi / 2),
    "sinh": (0, -0.0, inf, -inf),
    "cosh": (1, 1, inf, inf),
    "tanh": (0, -0.0, 1, -1),
    "erf": (0, -0.0, 1, -1),
    "sigmoid": (0.5, 0.5, 1, 0),
}


def test_every_function_that_rounds_is_measured() -> None:
    rounding = {name for name, op in OPS.items() if op.ulps}
    assert rounding - set(NAMES) == set()
    assert {name for name in NAMES if f"| `{name}` |" not in PAGE.read_text("utf-8")} == set()
    assert SPECIAL.keys() == FUNCTIONS.keys()


@sampled(5)
@both_backends
@pytest.mark.parametrize("name", NAMES)
def test_functions_are_exact_to_two_units_in_the_last_place(name: str, backend: str) -> None:
    error, at, found = worst(name, F32, backend, STRIDE)
    assert error <= LIMIT, f"{name}{tuple(at)} is {found}, {error} units off"


@pytest.mark.parametrize(
    ("name", "dtype", "backend"),
    on_backends(BACKENDS, [(name, dtype) for dtype in (F16, BF16) for name in NAMES]),
)
@sampled(3)
def test_narrow_floats_are_rounded_once(name: str, dtype: DType, backend: str) -> None:
    """Nearly so: where the f32 before it is just off a tie, the nearest but one may be taken."""
    error, at, found = worst(name, dtype, backend, STRIDE)
    assert error <= 0.502, f"{name}{tuple(at)} is {found}, {error} units off"


@both_backends
@pytest.mark.parametrize("name", SPECIAL)
def test_special_arguments_give_what_ieee_says(name: str, backend: str) -> None:
    found = run(name, [np.array([0.0, -0.0, inf, -inf, nan], np.float32)], backend)
    right = np.array([*SPECIAL[name], nan], np.float32)
    np.testing.assert_allclose(found, right, rtol=2.4e-7)
    is_number = ~np.isnan(right)
    np.testing.assert_array_equal(np.signbit(found[is_number]), np.signbit(right[is_number]))
