"""`fma` and casts of f64 to narrow floats round once: against fractions, on each backend."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.types import DTYPES
from tests.backends import BACKENDS

Array = np.ndarray[Any, np.dtype[Any]]
every_backend = pytest.mark.parametrize("backend", BACKENDS)

# Digits, the exponent of the least normal number, and that above all numbers.
FORMATS = {"f16": (11, -14, 16), "bf16": (8, -126, 128), "f32": (24, -126, 128)}


def nearest(exact: Fraction, name: str) -> float:
    """The number of a format that is nearest, halves to even."""
    digits, lowest, above = FORMATS[name]
    if exact == 0:
        return 0.0
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, lowest) - digits + 1)
    rounded = round(exact / unit) * unit
    return float(rounded) if abs(rounded) < 2**above else math.copysign(math.inf, exact)


@eas.kernel
def fused(a, b, c, out, N: eas.constexpr):
    i = mk.arange(0, N)
    mk.store(out, i, mk.fma(mk.load(a, i), mk.load(b, i), mk.load(c, i)))


def of_all_sizes(name: str) -> list[Array]:
    random, dtype, count = np.random.default_rng(0), DTYPES[name].numpy, 2000
    digits, _, above = FORMATS[name]
    a, b, c = random.choice([-1, 1], (3, count)) * (1 + random.random((3, count)))
    scale = np.exp2(random.integers(-above // 4, above // 4, (2, count)))
    factors = [(a * scale[0]).astype(dtype), (b * scale[1]).astype(dtype)]
    product = factors[0].astype(np.float64) * factors[1].astype(np.float64)
    apart = np.exp2(random.integers(-3 * digits, 2 * digits, count))
    with np.errstate(over="ignore"):
        return [*factors, (product * c * apart).astype(dtype)]


def beside_half_way(name: str) -> list[Array]:
    """Products in the middle between two numbers, and summands that f32 would lose beside them."""
    random, dtype = np.random.default_rng(0), DTYPES[name].numpy
    digits = FORMATS[name][0]
    a, b = random.integers(2 ** (digits - 1), 2**digits, (2, 400_000))
    dropped = np.floor(np.log2(a * b)).astype(np.int64) + 1 - digits
    is_half_way = (a * b) % (1 << dropped) == 1 << (dropped - 1)
    a, b = a[is_half_way][:2000], b[is_half_way][:2000]
    c = random.choice([-1, 1], a.size) * np.exp2(random.integers(-24, -18, a.size))
    if name == "f16":  # products of 2 ** 10 to 2 ** 12, which those summands do not reach
        return [a.astype(dtype), (b / 2.0**10).astype(dtype), c.astype(dtype)]
    return [a.astype(dtype), b.astype(dtype), c.astype(dtype)]


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_the_sums_beside_a_half_way_distinguish_one_rounding_from_two(name: str) -> None:
    a, b, c = (v.astype(np.float64) for v in beside_half_way(name))
    twice = (a * b + c).astype(np.float32).astype(DTYPES[name].numpy).astype(np.float64)
    rows = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    once = [nearest(Fraction(x) * Fraction(y) + Fraction(z), name) for x, y, z in rows]
    assert np.mean(twice != once) > 0.2


@every_backend
@pytest.mark.parametrize("name", FORMATS)
def test_a_fused_product_and_sum_is_rounded_once(name: str, backend: str) -> None:
    samples = of_all_sizes(name), beside_half_way(name)
    a, b, c = (np.concatenate(columns) for columns in zip(*samples, strict=True))
    out = np.zeros_like(a)
    fused[1](a, b, c, out, N=a.size, _backend=backend)
    numbers = zip(*(v.astype(np.float64).tolist() for v in (a, b, c)), strict=True)
    exact = [Fraction(x) * Fraction(y) + Fraction(z) for x, y, z in numbers if math.isfinite(z)]
    assert len(exact) > a.size // 2
    expected = np.array([nearest(value, name) for value in exact])
    found = out[np.isfinite(c.astype(np.float64))].astype(np.float64)
    wrong = np.flatnonzero(found != expected)
    assert wrong.size == 0, [(exact[i], found[i], expected[i]) for i in wrong[:3]]


@every_backend
def test_a_fused_sum_of_a_product_beyond_the_greatest_number(backend: str) -> None:
    """Of bf16 the product is infinite in f32 too; the sum is not, and needs its last digit."""
    random, dtype = np.random.default_rng(0), DTYPES["bf16"].numpy
    a, b = (1.0 + random.integers(0, 128, (2, 4000)) / 128.0) * [[2.0**64], [2.0**63]]
    c = -(1.0 + random.integers(0, 128, 4000) / 128.0) * 2.0**127
    out = np.zeros(4000, dtype)
    fused[1](*(v.astype(dtype) for v in (a, b, c)), out, N=4000, _backend=backend)
    rows = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    exact = [Fraction(x) * Fraction(y) + Fraction(z) for x, y, z in rows]
    assert out.astype(np.float64).tolist() == [nearest(value, "bf16") for value in exact]


@every_backend
@pytest.mark.parametrize("name", FORMATS)
def test_infinities_and_nans_go_through_a_fused_sum(name: str, backend: str) -> None:
    dtype = DTYPES[name].numpy
    cases = [
        *((np.inf, 2, 1, np.inf), (np.inf, -2, 1, -np.inf), (np.inf, 0, 1, np.nan)),
        *((1, 1, -np.inf, -np.inf), (np.inf, 1, -np.inf, np.nan), (np.nan, 1, 1, np.nan)),
        *((0.0, -1, 0.0, 0.0), (1, -1, 1, 0.0)),
    ]
    a, b, c, expected = (np.array(column).astype(dtype) for column in zip(*cases, strict=True))
    out = np.zeros_like(a)
    fused[1](a, b, c, out, N=a.size, _backend=backend)
    np.testing.assert_array_equal(out.astype(np.float32), expected.astype(np.float32))


@eas.kernel
def narrowed(x, out, N: eas.constexpr):
    i = mk.arange(0, N)
    mk.store(out, i, mk.load(x, i).to(out.dtype))


@pytest.mark.parametrize("backend", ["interpret", "cpu"])
@pytest.mark.parametrize("name", FORMATS)
def test_a_cast_of_f64_is_rounded_once(name: str, backend: str) -> None:
    random = np.random.default_rng(0)
    digits = FORMATS[name][0]
    whole = random.integers(2 ** (digits - 1), 2**digits, 1000) + 0.5
    x = whole + random.choice([0, 2.0**-40, -(2.0**-40)], 1000)
    out = np.zeros(1000, DTYPES[name].numpy)
    narrowed[1](x, out, N=1000, _backend=backend)
    expected = [nearest(Fraction(value), name) for value in x.tolist()]
    assert out.astype(np.float64).tolist() == expected


@eas.kernel
def filled(out):
    mk.store(out, mk.arange(0, 2), mk.full((2,), 257 + 2.0**-30, mk.bf16))


def test_a_constant_is_rounded_once() -> None:
    out = np.zeros(2, DTYPES["bf16"].numpy)
    filled[1](out)
    assert out.astype(np.float32).tolist() == [258.0, 258.0]
