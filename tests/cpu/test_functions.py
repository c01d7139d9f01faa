"""Functions of floats: within two units in the last place, and with the right special values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.runtime.cpu import jit
from scripts import polynomials
from tests.ops.accuracy import apply, apply_to_two

Array = np.ndarray[Any, np.dtype[Any]]


def samples(low: float, high: float) -> Array:
    """Floats of all sizes between two bounds, evenly by their bits."""
    bits = np.arange(0, 2**31, 2**31 // 300_000, dtype=np.int64).astype(np.int32)
    sizes = bits.view(np.float32)
    spread = np.linspace(low, high, 100_000, dtype=np.float32)
    found = np.concatenate([sizes, -sizes, spread])
    return found[np.isfinite(found) & (found >= low) & (found <= high)]


def error_in_units(found: Array, exact: Array) -> Array:
    """How far floats are from exact values, in units of the exact values' last place."""
    with np.errstate(all="ignore"):
        near = exact.astype(np.float32)
        unit = np.spacing(np.abs(np.where(np.isfinite(near), near, 1)).astype(np.float32))
        distance = np.abs(found.astype(np.float64) - exact) / unit
    same = (found == near) | (np.isnan(found) & np.isnan(near))
    return np.where(same, 0, distance)


def erf(x: Array) -> Array:
    return np.vectorize(math.erf)(x)


BIG = float(np.finfo(np.float32).max)
FUNCTIONS: dict[str, tuple[Callable[[Array], Array], float, float]] = {
    "exp": (np.exp, -110.0, 92.0),
    "exp2": (np.exp2, -155.0, 130.0),
    "expm1": (np.expm1, -110.0, 92.0),
    "log": (np.log, 0.0, BIG),
    "log1p": (np.log1p, -1.0, BIG),
    "log2": (np.log2, 0.0, BIG),
    "log10": (np.log10, 0.0, BIG),
    "sin": (np.sin, -1e9, 1e9),
    "cos": (np.cos, -1e9, 1e9),
    "tan": (np.tan, -1e9, 1e9),
    "asin": (np.arcsin, -1.0, 1.0),
    "acos": (np.arccos, -1.0, 1.0),
    "atan": (np.arctan, -BIG, BIG),
    "sinh": (np.sinh, -92.0, 92.0),
    "cosh": (np.cosh, -92.0, 92.0),
    "tanh": (np.tanh, -12.0, 12.0),
    "erf": (erf, -5.0, 5.0),
    "sqrt": (np.sqrt, 0.0, BIG),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 0.0, BIG),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -110.0, 110.0),
}
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, -2.5, 1e-45, -1e-45], "f4")


def run(name: str, x: Array) -> Array:
    out = np.zeros_like(x)
    apply(x, out, len(x), FN=getattr(mk, name), BLOCK=1024, _backend="cpu")
    return out


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_within_two_units_in_the_last_place(name: str) -> None:
    exact, low, high = FUNCTIONS[name]
    x = samples(low, high)
    with np.errstate(all="ignore"):
        errors = error_in_units(run(name, x), exact(x.astype(np.float64)))
    worst = int(np.argmax(errors))
    assert errors[worst] <= 2, f"{name}({x[worst]!r}) is off by {errors[worst]} units"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_the_special_values_of_numpy(name: str) -> None:
    exact = FUNCTIONS[name][0]
    with np.errstate(all="ignore"):
        expected = exact(SPECIAL.astype(np.float64)).astype(np.float32)
    found = run(name, SPECIAL)
    np.testing.assert_allclose(found, expected, rtol=3e-7)
    np.testing.assert_array_equal(np.signbit(found[:2]), np.signbit(expected[:2]))


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_of_any_size_are_reduced_exactly(name: str) -> None:
    x = samples(1e9, BIG)[::16].copy()
    exact = getattr(np, name)(x.astype(np.float64))
    assert error_in_units(run(name, x), exact).max() <= 2


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "erf", "pow"])
def test_doubles_are_as_good_as_those_of_the_c_library(name: str) -> None:
    x = np.linspace(0.1, 3, 1000)
    out = np.zeros_like(x)
    if name == "pow":
        apply_to_two(x, x, out, 1000, FN=mk.pow, BLOCK=256, _backend="cpu")
        np.testing.assert_allclose(out, x**x, rtol=1e-15)
    else:
        apply(x, out, 1000, FN=getattr(mk, name), BLOCK=256, _backend="cpu")
        np.testing.assert_allclose(out, FUNCTIONS[name][0](x), rtol=1e-15)


def pairs(low: float, high: float, count: int) -> tuple[Array, Array]:
    random = np.random.default_rng(0)
    sizes = np.exp(random.uniform(np.log(low), np.log(high), (2, count)))
    x, y = (sizes * random.choice([-1, 1], (2, count))).astype(np.float32)
    grid = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, -2, 3, -3, 0.5, -0.5], "f4")
    return np.concatenate([x, np.repeat(grid, 13)]), np.concatenate([y, np.tile(grid, 13)])


def run_two(name: str, x: Array, y: Array) -> Array:
    out = np.zeros_like(x)
    apply_to_two(x, y, out, len(x), FN=getattr(mk, name), BLOCK=1024, _backend="cpu")
    return out


def test_pow_is_within_two_units_in_the_last_place() -> None:
    x, y = pairs(1e-3, 1e3, 200_000)
    x[:100_000] = np.abs(x[:100_000])
    y[100_000:200_000] = np.round(y[100_000:200_000])
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), y.astype(np.float64))
    assert error_in_units(run_two("pow", x, y), exact).max() <= 2


def test_atan2_is_within_two_units_in_the_last_place() -> None:
    y, x = pairs(1e-30, 1e30, 200_000)
    exact = np.arctan2(y.astype(np.float64), x.astype(np.float64))
    found = run_two("atan2", y, x)
    assert error_in_units(found, exact).max() <= 2
    np.testing.assert_array_equal(np.signbit(found), np.signbit(exact))


@eas.kernel(fast_math=True)
def fast_rsqrt(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(y, i, mk.rsqrt(mk.load(x, i, i < N)), i < N)


def test_a_fast_rsqrt_is_within_three_units() -> None:
    x = samples(float(np.finfo(np.float32).tiny), BIG)
    y = np.zeros_like(x)
    fast_rsqrt(x, y, x.size, BLOCK=1024, _backend="cpu")
    assert error_in_units(y, 1 / np.sqrt(x.astype(np.float64))).max() <= 3


@pytest.mark.skipif(jit.vector_width() < 8, reason="without AVX2 it is LLVM's")
def test_a_fast_rsqrt_of_zero_is_infinite() -> None:
    x = np.array([0.0, -0.0] * 64, np.float32)
    y = np.zeros_like(x)
    fast_rsqrt(x, y, x.size, BLOCK=128, _backend="cpu")
    np.testing.assert_array_equal(y, [math.inf, -math.inf] * 64)


@pytest.mark.parametrize("fit", polynomials.fits(), ids=lambda fit: fit.name)
def test_a_polynomial_is_within_five_bits_of_the_best_one(fit: polynomials.Fit) -> None:
    assert polynomials.table_error(fit) <= 2**5 * polynomials.best_error(fit)
