"""Reductions and scans along every axis, built in or by a function, on each backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.types import DTYPES
from tests.ops.comparing import assert_close
from tests.ops.shapes import SHAPES, Shape, offsets

Array = np.ndarray[Any, np.dtype[Any]]
BACKENDS = ("interpret", "cpu", "msl-host")
BLOCKS = tuple(shape for shape in SHAPES if shape)
AXES = [(shape, axis) for shape in BLOCKS for axis in range(len(shape))]

# Backend and threads per program: where those fill no simdgroup, work is shared out differently.
WAYS = [("interpret", None), ("cpu", None), ("msl-host", None), ("msl-host", 1), ("msl-host", 48)]
FEW_THREADS = {((33,), 0), ((5, 7), 0), ((5, 7), 1)}
CASES = [(*case, *way) for case in AXES for way in WAYS if not way[1] or case in FEW_THREADS]
# Rows of simdgroups, rows in simdgroups, rows across them, with more of them than one has lanes.
LONG = [((4, 64), 1), ((70, 16), 1), ((5, 90), 1), ((5, 300), 1)]
LONG_CASES = [(*case, *way) for case in LONG for way in WAYS[:3]]


def last_greatest(v, i, w, j):
    if w > v or (w == v and j > i):
        return w, j
    return v, i


def merge_moments(n, mean, m2, n_b, mean_b, m2_b):
    """Chan's formula: two parts of a variance."""
    total = n + n_b
    delta = mean_b - mean
    share = n_b / total
    return total, mean + delta * share, m2 + m2_b + delta * delta * n * share


def linear(a, b, c, d):
    """The composition of two linear functions, which does not commute."""
    return a * c, b * c + d


@eas.kernel
def scan_all(
    x, y, sums, products, back, best, slopes, offs, AXIS: eas.constexpr, SHAPE: eas.constexpr
):
    at = offsets(SHAPE)
    v, w = mk.load(x, at), mk.load(y, at)
    mk.store(sums, at, mk.cumsum(v, AXIS))
    mk.store(products, at, mk.cumprod(v, axis=AXIS))
    mk.store(back, at, mk.cumsum(v, AXIS, reverse=True))
    mk.store(best, at, mk.associative_scan(v, AXIS, mk.maximum))
    slope, offset = mk.associative_scan((v, w), AXIS, linear)
    mk.store(slopes, at, slope)
    mk.store(offs, at, offset)


@eas.kernel
def reduce_all(x, best, index, mean, m2, AXIS: eas.constexpr, SHAPE: eas.constexpr):
    at = offsets(SHAPE)
    v = mk.load(x, at)
    to = offsets(SHAPE[:AXIS] + SHAPE[AXIS + 1 :])
    high, place = mk.reduce((v, at), AXIS, last_greatest)
    mk.store(best, to, high)
    mk.store(index, to, place)
    _, average, spread = mk.reduce((mk.full_like(v, 1.0), v, mk.zeros_like(v)), AXIS, merge_moments)
    mk.store(mean, to, average)
    mk.store(m2, to, spread)


def whole(random: np.random.Generator, shape: Shape) -> Array:
    """Small whole numbers: their sums are exact, in whatever order."""
    return random.integers(-2, 3, shape).astype(np.float32)


@pytest.mark.parametrize(("shape", "axis", "backend", "threads"), CASES + LONG_CASES, ids=str)
def test_scans_agree_with_numpy(shape: Shape, axis: int, backend: str, threads: int | None) -> None:
    random = np.random.default_rng(0)
    x, y = np.sign(whole(random, shape) + np.float32(0.5)), whole(random, shape)
    names = ("sums", "products", "back", "best", "slopes", "offs")
    out = {name: np.zeros(shape, np.float32) for name in names}
    scan_all[(1,)](x, y, **out, AXIS=axis, SHAPE=shape, _backend=backend, _tptg=threads)
    flipped = np.flip(np.cumsum(np.flip(x, axis), axis), axis)
    slopes, constants = composed(np.moveaxis(x, axis, -1), np.moveaxis(y, axis, -1))
    np.testing.assert_array_equal(out["sums"], np.cumsum(x, axis))
    np.testing.assert_array_equal(out["products"], np.cumprod(x, axis))
    np.testing.assert_array_equal(out["back"], flipped)
    np.testing.assert_array_equal(out["best"], np.maximum.accumulate(x, axis))
    np.testing.assert_array_equal(np.moveaxis(out["slopes"], axis, -1), slopes)
    np.testing.assert_array_equal(np.moveaxis(out["offs"], axis, -1), constants)


def composed(a: Array, b: Array) -> tuple[Array, Array]:
    slopes, constants = a.copy(), b.copy()
    for k in range(1, a.shape[-1]):
        slopes[..., k] = slopes[..., k - 1] * a[..., k]
        constants[..., k] = constants[..., k - 1] * a[..., k] + b[..., k]
    return slopes, constants


@pytest.mark.parametrize(("shape", "axis", "backend", "threads"), CASES, ids=str)
def test_reductions_by_a_function_agree_with_numpy(
    shape: Shape, axis: int, backend: str, threads: int | None
) -> None:
    x = whole(np.random.default_rng(0), shape)
    rest = shape[:axis] + shape[axis + 1 :] or (1,)
    out = {name: np.zeros(rest, np.float32) for name in ("best", "mean", "m2")}
    index = np.zeros(rest, np.int32)
    reduce_all[(1,)](x, **out, index=index, AXIS=axis, SHAPE=shape, _backend=backend, _tptg=threads)
    last = shape[axis] - 1 - np.argmax(np.flip(x, axis), axis)
    numbers = np.arange(x.size, dtype=np.int32).reshape(shape)
    places = np.take_along_axis(numbers, np.expand_dims(last, axis), axis).reshape(rest)
    np.testing.assert_array_equal(out["best"], x.max(axis).reshape(rest))
    np.testing.assert_array_equal(index, places)
    np.testing.assert_allclose(out["mean"], x.mean(axis).reshape(rest), atol=1e-6)
    spread = (x.var(axis) * shape[axis]).reshape(rest)
    np.testing.assert_allclose(out["m2"], spread, rtol=1e-5, atol=1e-5)


# --- dtypes -----------------------------------------------------------------------------------

SIZE = 70


@eas.kernel
def of_dtype(x, sums, low, SIZE: eas.constexpr):
    i = mk.arange(0, SIZE)
    v = mk.load(x, i)
    mk.store(sums, i, mk.cumsum(v))
    mk.store(low, 0, mk.reduce(v, 0, lambda a, b: a if a < b else b))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", [name for name in DTYPES if name != "bool"])
def test_every_dtype_can_be_combined(name: str, backend: str) -> None:
    if (name, backend) == ("f64", "msl-host"):
        return
    dtype = DTYPES[name]
    x = (np.arange(SIZE) * 7 % 3).astype(dtype.numpy)
    wide = x.astype(np.float64 if dtype.is_float else np.int64)
    narrow = {"i8": "i4", "i16": "i4", "u8": "u4", "u16": "u4"}.get(name, dtype.numpy)
    sums, low = np.zeros(SIZE, narrow), np.ones(1, dtype.numpy)
    of_dtype[(1,)](x, sums, low, SIZE=SIZE, _backend=backend)
    assert_close(sums, np.cumsum(wide).astype(sums.dtype), 0, f"cumsum of {name}")
    assert low[0] == 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_sums_of_integers_wrap(backend: str) -> None:
    x = np.full(SIZE, 1 << 30, np.int32)
    sums, low = np.zeros(SIZE, np.int32), np.zeros(1, np.int32)
    of_dtype[(1,)](x, sums, low, SIZE=SIZE, _backend=backend)
    np.testing.assert_array_equal(sums, np.cumsum(x, dtype=np.int32))


@eas.kernel
def of_bools(x, odd, all_true, SIZE: eas.constexpr):
    i = mk.arange(0, SIZE)
    v = mk.load(x, i)
    mk.store(odd, i, mk.associative_scan(v, 0, lambda a, b: a != b))
    mk.store(all_true, 0, mk.reduce(v, 0, lambda a, b: a and b))


@pytest.mark.parametrize("backend", BACKENDS)
def test_bools_can_be_combined(backend: str) -> None:
    x = np.arange(SIZE) % 3 == 0
    odd, all_true = np.zeros(SIZE, np.bool_), np.ones(1, np.bool_)
    of_bools[(1,)](x, odd, all_true, SIZE=SIZE, _backend=backend)
    np.testing.assert_array_equal(odd, np.cumsum(x) % 2 == 1)
    assert not all_true[0]
