"""Factors of products that a kernel has in threadgroup memory are multiplied where they lie."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from tests.kernels.case import floats

Array = np.ndarray[Any, np.dtype[Any]]
M, N, K, TILES = 48, 64, 32, 3
SUMS = M * N


@eas.kernel
def ring(x, y, out, SLOTS: eas.constexpr, PAD: eas.constexpr):
    """Copies the next tiles before it multiplies these; with one slot it multiplies first."""
    i, j, k = mk.arange(0, M), mk.arange(0, N), mk.arange(0, K)
    left = mk.alloc_tg(SLOTS * M * (K + PAD), x.dtype)
    right = mk.alloc_tg(SLOTS * K * (N + PAD), y.dtype)
    rows, left_at = i[:, None] * (K * TILES) + k[None, :], i[:, None] * (K + PAD) + k[None, :]
    columns, right_at = k[:, None] * N + j[None, :], k[:, None] * (N + PAD) + j[None, :]
    mk.store(left, left_at, mk.load(x, rows))
    mk.store(right, right_at, mk.load(y, columns))
    acc = mk.zeros((M, N), out.dtype)
    for t in range(TILES):
        here, there = t % SLOTS, (t + 1) % SLOTS
        a = mk.load(left, here * (M * (K + PAD)) + left_at)
        b = mk.load(right, here * (K * (N + PAD)) + right_at)
        if SLOTS == 1:
            acc = mk.dot(a, b, acc)
        is_next = t + 1 < TILES
        next_a = mk.load(x, rows + (t + 1) * K, (rows >= 0) & is_next)
        next_b = mk.load(y, columns + (t + 1) * K * N, (columns >= 0) & is_next)
        mk.store(left, there * (M * (K + PAD)) + left_at, next_a)
        mk.store(right, there * (K * (N + PAD)) + right_at, next_b)
        if SLOTS > 1:
            acc = mk.dot(a, b, acc)
    mk.store(out, i[:, None] * N + j[None, :], acc)


@eas.kernel
def transposed(x, y, out):
    """The right factor lies in memory as its transpose does, with padded rows."""
    i, j, k = mk.arange(0, M), mk.arange(0, N), mk.arange(0, K)
    right = mk.alloc_tg(N * (K + 3), mk.f32)
    at = j[:, None] * (K + 3) + k[None, :]
    mk.store(right, at, mk.load(y, j[:, None] * K + k[None, :]))
    a = mk.load(x, i[:, None] * K + k[None, :])
    mk.store(out, i[:, None] * N + j[None, :], mk.dot(a, mk.trans(mk.load(right, at))))


@eas.kernel
def batched(x, y, out):
    z = mk.arange(0, 3)[:, None, None]
    i, j, k = mk.arange(0, M), mk.arange(0, N), mk.arange(0, K)
    left = mk.alloc_tg(3 * M * (K + 2), mk.f32)
    at = z * (M * (K + 2)) + i[None, :, None] * (K + 2) + k[None, None, :]
    mk.store(left, at, mk.load(x, z * (M * K) + i[None, :, None] * K + k[None, None, :]))
    b = mk.load(y, z * (K * N) + k[None, :, None] * N + j[None, None, :])
    product = mk.dot(mk.load(left, at), b)
    mk.store(out, z * (M * N) + i[None, :, None] * N + j[None, None, :], product)


@eas.kernel
def changed_before(x, y, out):
    """The matrix changes after it is loaded: the product is that of the old one."""
    i, j, k = mk.arange(0, M), mk.arange(0, N), mk.arange(0, K)
    left = mk.alloc_tg(M * K, mk.f32)
    at = i[:, None] * K + k[None, :]
    mk.store(left, at, mk.load(x, at))
    a = mk.load(left, at)
    mk.store(left, at, a + a)
    mk.store(out, i[:, None] * N + j[None, :], mk.dot(a, mk.load(y, k[:, None] * N + j[None, :])))


@eas.kernel
def changed_in_loop(x, y, out):
    """A trip changes the matrix that all trips multiply by."""
    i, j, k = mk.arange(0, M), mk.arange(0, N), mk.arange(0, K)
    left = mk.alloc_tg(M * K, mk.f32)
    at = i[:, None] * K + k[None, :]
    mk.store(left, at, mk.load(x, at))
    a, b = mk.load(left, at), mk.load(y, k[:, None] * N + j[None, :])
    acc = mk.zeros((M, N))
    for _ in range(3):
        acc = mk.dot(a, b, acc)
        mk.store(left, at, mk.load(left, at) + a)
    mk.store(out, i[:, None] * N + j[None, :], acc / 3)


@eas.kernel
def used_twice(x, y, out):
    """The matrix is multiplied where it lies, and its elements are used by themselves."""
    i, j, k = mk.arange(0, M), mk.arange(0, N), mk.arange(0, K)
    left = mk.alloc_tg(M * K, mk.f32)
    at = i[:, None] * K + k[None, :]
    mk.store(left, at, mk.load(x, at))
    a = mk.load(left, at)
    product = mk.dot(a, mk.load(y, k[:, None] * N + j[None, :]))
    mk.store(out, i[:, None] * N + j[None, :], product + mk.sum(a, axis=1)[:, None])


@eas.kernel
def beyond(x, y, out, n):
    """The matrix begins at a row that an argument gives, one row too late at the most."""
    i, j, k = mk.arange(0, M), mk.arange(0, N), mk.arange(0, K)
    left = mk.alloc_tg(2 * M * K, mk.f32)
    at = i[:, None] * K + k[None, :]
    mk.store(left, at, mk.load(x, at))
    mk.store(left, M * K + at, mk.load(x, at))
    a = mk.load(left, mk.clamp(n, 0, M + 1) * K + at)
    mk.store(out, i[:, None] * N + j[None, :], mk.dot(a, mk.load(y, k[:, None] * N + j[None, :])))


def run(kernel: Any, x: Array, y: Array, shape: tuple[int, ...], **constants: int) -> Array:
    out = np.zeros(shape, "f8" if x.dtype == "f8" else "f4")
    kernel[1](x, y, out, **constants, _backend="cpu")
    return out


def tiles_of(kernel: Any, *more: str, **constants: int) -> list[int]:
    """How many elements each tile of f32 on the stack has, beside a vector of padding."""
    text = kernel.to_llvm("*f32", "*f32", "*f32", *more, **constants)
    width = max(int(n) for n in re.findall(r"<(\d+) x float>", text))
    return sorted(int(n) - width for n in re.findall(r"alloca \[(\d+) x float\]", text))


@pytest.mark.parametrize("pad", [0, 4])
@pytest.mark.parametrize("slots", [1, 2, 3])
def test_the_tiles_of_a_ring_are_multiplied_where_they_lie(slots: int, pad: int) -> None:
    x, y = floats(M, K * TILES), floats(K * TILES, N, seed=1)
    found = run(ring, x, y, (M, N), SLOTS=slots, PAD=pad)
    np.testing.assert_allclose(found, x @ y, rtol=1e-4, atol=1e-4)
    assert M * K not in tiles_of(ring, SLOTS=slots, PAD=pad)
    assert K * N not in tiles_of(ring, SLOTS=slots, PAD=pad)


@pytest.mark.parametrize("dtype", ["f2", "f8"])
def test_matrices_of_other_dtypes_give_the_same_product(dtype: str) -> None:
    x, y = floats(M, K * TILES).astype(dtype), floats(K * TILES, N, seed=1).astype(dtype)
    found = run(ring, x, y, (M, N), SLOTS=2, PAD=4)
    expected = x.astype("f8") @ y.astype("f8")
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_a_transposed_matrix_is_transposed_from_where_it_lies() -> None:
    x, y = floats(M, K), floats(N, K, seed=1)
    np.testing.assert_allclose(run(transposed, x, y, (M, N)), x @ y.T, rtol=1e-4, atol=1e-4)
    assert tiles_of(transposed) == [M * K, N * K, SUMS]


def test_one_factor_of_several_products_is_multiplied_where_it_lies() -> None:
    x, y = floats(3, M, K), floats(3, K, N, seed=1)
    np.testing.assert_allclose(run(batched, x, y, (3, M, N)), x @ y, rtol=1e-4, atol=1e-4)
    assert 3 * M * K not in tiles_of(batched)


@pytest.mark.parametrize("kernel", [changed_before, changed_in_loop])
def test_a_matrix_that_changes_before_the_product_is_copied(kernel: Any) -> None:
    x, y = floats(M, K), floats(K, N, seed=1)
    np.testing.assert_allclose(run(kernel, x, y, (M, N)), x @ y, rtol=1e-4, atol=1e-4)
    assert M * K in tiles_of(kernel)


def test_a_matrix_that_others_use_too_is_loaded_for_them() -> None:
    x, y = floats(M, K), floats(K, N, seed=1)
    expected = x @ y + x.sum(axis=1)[:, None]
    np.testing.assert_allclose(run(used_twice, x, y, (M, N)), expected, rtol=1e-4, atol=1e-4)


def test_a_matrix_that_may_lie_beyond_its_array_is_checked() -> None:
    x, y, out = floats(M, K), floats(K, N, seed=1), np.zeros((M, N), "f4")
    beyond[1](x, y, out, M, _backend="cpu")
    np.testing.assert_allclose(out, x @ y, rtol=1e-4, atol=1e-4)
    with pytest.raises(eas.KernelError, match="left"):
        beyond[1](x, y, out, M + 1, _backend="cpu")
    assert M * K not in tiles_of(beyond, "i32"), "without checks it is read where it lies"
