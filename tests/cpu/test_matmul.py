"""Matrix products in many forms: all give NumPy's result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from tests.kernels.case import floats

Array = np.ndarray[Any, np.dtype[Any]]
SHAPES = [(64, 48, 32), (65, 33, 70)]
TILES = [(16, 16, 16), (32, 16, 64), (5, 7, 3)]


@eas.kernel
def by_pointers(
    a, b, c, M, N, K, AM, AK, BK, BN,
    ROWS: eas.constexpr, COLUMNS: eas.constexpr, DEPTH: eas.constexpr,
):  # fmt: skip
    m = (mk.program_id(0) * ROWS + mk.arange(0, ROWS)) % M
    n = (mk.program_id(1) * COLUMNS + mk.arange(0, COLUMNS)) % N
    k = mk.arange(0, DEPTH)
    left = a + m[:, None] * AM + k[None, :] * AK
    right = b + k[:, None] * BK + n[None, :] * BN
    total = mk.zeros((ROWS, COLUMNS), mk.f32)
    for step in range(mk.cdiv(K, DEPTH)):
        x = mk.load(left, mask=k[None, :] < K - step * DEPTH, other=0.0)
        y = mk.load(right, mask=k[:, None] < K - step * DEPTH, other=0.0)
        total += mk.dot(x, y)
        left += DEPTH * AK
        right += DEPTH * BK
    m = mk.program_id(0) * ROWS + mk.arange(0, ROWS)
    n = mk.program_id(1) * COLUMNS + mk.arange(0, COLUMNS)
    mk.store(c + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize("shape", SHAPES)
def test_pointers_that_advance_and_wrap_around(
    shape: tuple[int, int, int], tile: tuple[int, int, int], is_turned: bool
) -> None:
    m, n, k = shape
    a, b, c = floats(m, k), floats(k, n, seed=1), np.zeros((m, n), "f4")
    given = np.ascontiguousarray(b.T) if is_turned else b
    strides = (1, k) if is_turned else (n, 1)
    options = dict(zip(("ROWS", "COLUMNS", "DEPTH"), tile, strict=True))
    grid = (-(-m // tile[0]), -(-n // tile[1]))
    by_pointers[grid](a, given, c, m, n, k, k, 1, *strides, **options, _backend="cpu")
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-5)


@eas.kernel
def by_columns(
    a, b, c, M, N, K,
    ROWS: eas.constexpr, COLUMNS: eas.constexpr, DEPTH: eas.constexpr,
):  # fmt: skip
    m = (mk.program_id(0) * ROWS + mk.arange(0, ROWS))[:, None]
    n = (mk.program_id(1) * COLUMNS + mk.arange(0, COLUMNS))[None, :]
    total = mk.zeros((ROWS, COLUMNS), mk.f32)
    start = 0
    while start < K:
        down, along = start + mk.arange(0, DEPTH)[:, None], start + mk.arange(0, DEPTH)[None, :]
        x = mk.load(a, along * M + m, (along < K) & (m < M), other=0.0)
        y = mk.load(b, n * K + down, (down < K) & (n < N), other=0.0)
        total = total * 0.5 + mk.dot(x, y)
        start += DEPTH
    mk.store(c, m * N + n, total, (m < M) & (n < N))


@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize("shape", SHAPES)
def test_factors_that_are_stored_in_columns(
    shape: tuple[int, int, int], tile: tuple[int, int, int]
) -> None:
    m, n, k = shape
    a, b, c = floats(k, m), floats(n, k, seed=1), np.zeros((m, n), "f4")
    options = dict(zip(("ROWS", "COLUMNS", "DEPTH"), tile, strict=True))
    grid = (-(-m // tile[0]), -(-n // tile[1]))
    by_columns[grid](a, b, c, m, n, k, **options, _backend="cpu")
    expected = np.zeros((m, n), "f4")
    for start in range(0, k, tile[2]):
        part = slice(start, start + tile[2])
        expected = expected * np.float32(0.5) + a[part].T @ b[:, part].T
    np.testing.assert_allclose(c, expected, rtol=1e-4, atol=1e-5)


@eas.kernel
def square_sum(a, c, SIZE: eas.constexpr):
    i, j = mk.arange(0, SIZE)[:, None], mk.arange(0, SIZE)[None, :]
    x = mk.load(a, i * SIZE + j)
    product = mk.dot(x, mk.trans(x))
    mk.store(c, i * SIZE + j, x + product)
    mk.store(c, (SIZE + i) * SIZE + j, product)


def test_a_product_that_is_also_used_alone_is_not_fused_with_a_sum() -> None:
    a, c = floats(16, 16), np.zeros((32, 16), "f4")
    square_sum[1](a, c, SIZE=16, _backend="cpu")
    np.testing.assert_allclose(c[:16], a + a @ a.T, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(c[16:], a @ a.T, rtol=1e-5, atol=1e-5)


@eas.kernel
def sum_is_right_factor(a, b, out, SIZE: eas.constexpr):
    at = mk.arange(0, SIZE)[:, None] * SIZE + mk.arange(0, SIZE)[None, :]
    x, y = mk.load(a, at), mk.load(b, at)
    for _ in range(2):
        y = y + mk.dot(x, y)
    mk.store(out, at, y)


@eas.kernel
def sum_is_left_factor(a, b, out, SIZE: eas.constexpr):
    at = mk.arange(0, SIZE)[:, None] * SIZE + mk.arange(0, SIZE)[None, :]
    x, y = mk.load(a, at), mk.load(b, at) * 1.0
    mk.store(out, at, mk.dot(y, x, y))


@eas.kernel
def sum_is_both_factors(a, b, out, SIZE: eas.constexpr):
    at = mk.arange(0, SIZE)[:, None] * SIZE + mk.arange(0, SIZE)[None, :]
    x = mk.load(a, at) + mk.load(b, at)
    mk.store(out, at, mk.dot(x, x, x))


@pytest.mark.parametrize("size", [16, 33, 64])
def test_a_sum_that_is_also_a_factor_is_not_overwritten(size: int) -> None:
    a, b = floats(size, size) / size, floats(size, size, seed=1) / size
    twice = b + a @ b
    twice = twice + a @ twice
    expected = {
        sum_is_right_factor: twice,
        sum_is_left_factor: b + b @ a,
        sum_is_both_factors: (a + b) + (a + b) @ (a + b),
    }
    for kernel, right in expected.items():
        out = np.zeros((size, size), "f4")
        kernel[1](a, b, out, SIZE=size, _backend="cpu")
        np.testing.assert_allclose(out, right, rtol=1e-4, atol=1e-5, err_msg=kernel.__name__)


@eas.kernel
def sum_from_outside(a, b, out, SIZE: eas.constexpr):
    at = mk.arange(0, SIZE)[:, None] * SIZE + mk.arange(0, SIZE)[None, :]
    x, y = mk.load(a, at), mk.load(b, at)
    start, total = mk.exp(x), mk.zeros((SIZE, SIZE), mk.f32)
    for _ in range(3):
        total += mk.dot(x, y, start) * 0.5
        y = y + 1.0
    mk.store(out, at, total)


def test_a_sum_from_outside_of_a_loop_is_the_same_in_each_trip() -> None:
    a, b, out = floats(16, 16), floats(16, 16, seed=1), np.zeros((16, 16), "f4")
    sum_from_outside[1](a, b, out, SIZE=16, _backend="cpu")
    expected = sum((np.exp(a) + a @ (b + n)) * 0.5 for n in range(3))
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)


@eas.kernel
def reshaped_sum(a, b, out, SIZE: eas.constexpr):
    at = mk.arange(0, SIZE)[:, None] * SIZE + mk.arange(0, SIZE)[None, :]
    row = mk.exp(mk.load(a, mk.arange(0, SIZE * SIZE)))
    total = mk.dot(mk.load(a, at), mk.load(b, at), mk.reshape(row, (SIZE, SIZE)))
    mk.store(out, mk.arange(0, SIZE * SIZE), row + mk.reshape(total, (SIZE * SIZE,)))


def test_a_sum_that_is_a_view_does_not_change_what_it_is_a_view_of() -> None:
    a, b, out = floats(16, 16), floats(16, 16, seed=1), np.zeros((16, 16), "f4")
    reshaped_sum[1](a, b, out, SIZE=16, _backend="cpu")
    np.testing.assert_allclose(out, 2 * np.exp(a) + a @ b, rtol=1e-4, atol=1e-4)
