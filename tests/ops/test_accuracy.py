"""How exact the functions of f32 are on CPUs: over all sizes of arguments, and for special ones.

`docs/accuracy.md` has the table that `python -m tests.ops.test_accuracy` prints.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from eas.ir.ops import OPS
from tests.ops.comparing import ulps_between

Array = np.ndarray[Any, np.dtype[Any]]
LIMIT = 2
# One of this many f32 is tried, from zero to the infinities and the NaNs, subnormals included.
STRIDE = 8209

inf, nan = math.inf, math.nan


def _erf(a: Array) -> Array:
    return np.vectorize(math.erf, otypes=[np.float64])(a)


EXACT: dict[str, Any] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda a: 1 / np.sqrt(a),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "erf": _erf,
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
}

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


def arguments(stride: int = STRIDE) -> Array:
    return np.arange(0, 1 << 32, stride, dtype=np.uint64).astype(np.uint32).view(np.float32)


def worst(name: str) -> tuple[int, float]:
    """The greatest error in units of the last place, and where it is."""
    x = arguments(STRIDE * 8 if name == "erf" else STRIDE)
    with np.errstate(all="ignore"):
        distance = ulps_between(
            OPS[name].meaning(x), EXACT[name](x.astype(np.float64)).astype(np.float32)
        )
    place = int(distance.argmax())
    return int(distance[place]), float(x[place])


@pytest.mark.parametrize("name", EXACT)
def test_functions_are_exact_to_two_units_in_the_last_place(name: str) -> None:
    distance, _ = worst(name)
    assert distance <= LIMIT


@pytest.mark.parametrize("name", SPECIAL)
def test_special_arguments_give_what_ieee_says(name: str) -> None:
    x = np.array([0.0, -0.0, inf, -inf, nan], np.float32)
    with np.errstate(all="ignore"):
        found = OPS[name].meaning(x)
    right = np.array([*SPECIAL[name], nan], np.float32)
    np.testing.assert_array_equal(found, right)
    is_number = ~np.isnan(right)
    np.testing.assert_array_equal(np.signbit(found[is_number]), np.signbit(right[is_number]))


if __name__ == "__main__":
    for name in EXACT:
        print(f"| `{name}` | {worst(name)[0]} |")
