"""Products of matrices beyond the table: few threads, turned factors, sums in loops."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.config import Backend
from eas.ir.types import F32
from tests.backends import BACKENDS, TEXT_BACKENDS
from tests.ops.shapes import Shape, offsets
from tests.ops.table.products import launch_products, multiply
from tests.thorough import sampled

Array = np.ndarray[Any, np.dtype[Any]]
both_backends = pytest.mark.parametrize("backend", BACKENDS)


def whole(seed: int, *shape: int) -> Array:
    """Small whole numbers, whose products add up exactly, in whatever order."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


@pytest.mark.parametrize("backend", TEXT_BACKENDS)
@pytest.mark.parametrize("threads", [32, 48])
@pytest.mark.parametrize("shape", [(5, 7, 3), (16, 16, 8), (64, 32, 24), (6, 16, 8, 24)], ids=str)
def test_few_threads_share_the_work(shape: Shape, threads: int, backend: Backend) -> None:
    launch = replace(launch_products(F32, shape), threads=threads)
    launch.run(backend)
    assert list(launch.faults(backend)) == []


@both_backends
@pytest.mark.parametrize("shape", [(5, 7, 3), (8, 8, 256)], ids=str)
def test_bytes_with_and_without_signs_are_multiplied(
    shape: tuple[int, int, int], backend: Backend
) -> None:
    m, n, k = shape
    a, b = np.full((m, k), -128, np.int8), np.full((k, n), 255, np.uint8)
    a[1] = 127
    acc, out = np.full((m, n), 2**30 + 1, np.int32), np.zeros((2, m, n), np.int32)
    multiply[(1,)](a, b, acc, out, SHAPE=shape, SIZE=m * n, _backend=backend)
    right = a.astype(np.int32) @ b.astype(np.int32)
    np.testing.assert_array_equal(out, [right, right + acc])


@eas.kernel
def multiply_turned(a, b, out, SHAPE: eas.constexpr):
    """Both factors come with their rows as columns."""
    B, M, N, K = SHAPE
    left = mk.permute(mk.load(a, offsets((B, K, M))), (0, 2, 1))
    right = mk.permute(mk.load(b, offsets((B, N, K))), (0, 2, 1))
    mk.store(out, offsets((B, M, N)), mk.dot(left, right))


@both_backends
@pytest.mark.parametrize("shape", [(1, 32, 48, 16), (2, 16, 16, 32), (2, 5, 3, 7)], ids=str)
def test_transposed_factors_are_multiplied(shape: tuple[int, int, int, int], backend: str) -> None:
    batch, m, n, k = shape
    a, b = whole(0, batch, k, m), whole(1, batch, n, k)
    out = np.zeros((batch, m, n), np.float32)
    multiply_turned[(1,)](a, b, out, SHAPE=shape, _backend=backend)
    np.testing.assert_array_equal(out, a.swapaxes(1, 2) @ b.swapaxes(1, 2))


@pytest.mark.parametrize("backend", ["cpu", "interpret"])
@pytest.mark.parametrize("shape", [(1, 32, 48, 16), (2, 5, 3, 7)], ids=str)
def test_products_of_f64_are_added_up_in_f64(
    shape: tuple[int, int, int, int], backend: Backend
) -> None:
    batch, m, n, k = shape
    random = np.random.default_rng(0)
    a, b, acc = (random.normal(size=(batch, *each)) for each in ((m, k), (k, n), (m, n)))
    out = np.zeros((2, batch, m, n))
    size = batch * m * n
    multiply[(1,)](a, b, acc, out, SHAPE=(batch, m, n, k), SIZE=size, _backend=backend)
    np.testing.assert_allclose(out, [a @ b, a @ b + acc], rtol=1e-13, atol=1e-13)
    turned = np.zeros((batch, m, n))
    left, right = (np.ascontiguousarray(x.swapaxes(1, 2)) for x in (a, b))
    multiply_turned[(1,)](left, right, turned, SHAPE=shape, _backend=backend)
    np.testing.assert_allclose(turned, a @ b, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("backend", ["cpu", "interpret"])
def test_a_sum_of_f32_goes_on_in_f64(backend: Backend) -> None:
    a, b = np.full((1, 1), 1 + 2.0**-40), np.ones((1, 1))
    acc, out = np.full((1, 1), 2.0, np.float32), np.zeros((2, 1, 1))
    multiply[(1,)](a, b, acc, out, SHAPE=(1, 1, 1), SIZE=1, _backend=backend)
    assert out.ravel().tolist() == [1 + 2.0**-40, 3 + 2.0**-40]


@eas.kernel
def sum_products(a, b, out, K, BLOCK: eas.constexpr, FORM: eas.constexpr, START: eas.constexpr):
    """`a @ b` in steps of `BLOCK`, the sum written in different ways."""
    i, k = mk.arange(0, 16), mk.arange(0, BLOCK)
    acc = mk.full((16, 16), START)
    for start in range(0, K, BLOCK):
        ks = start + k
        left = mk.load(a, i[:, None] * K + ks[None, :], ks[None, :] < K)
        right = mk.load(b, ks[:, None] * 16 + i[None, :], ks[:, None] < K)
        if FORM == "given":
            acc = mk.dot(left, right, acc)
        elif FORM == "added":
            acc += mk.dot(left, right)
        else:
            acc = acc * 0.5 + mk.dot(left, right)
    mk.store(out, i[:, None] * 16 + i[None, :], acc + 1.0)


@sampled(5)
@both_backends
@pytest.mark.parametrize("first", [0.0, 2.0])
@pytest.mark.parametrize("form", ["given", "added", "scaled"])
def test_a_loop_adds_up_products(form: str, first: float, backend: str) -> None:
    a, b = whole(0, 16, 20), whole(1, 20, 16)
    out = np.zeros((16, 16), np.float32)
    sum_products[(1,)](a, b, out, 20, BLOCK=8, FORM=form, START=first, _backend=backend)
    right = np.full((16, 16), first, np.float32)
    for start in range(0, 20, 8):
        share = a[:, start : start + 8] @ b[start : start + 8]
        right = right * (0.5 if form == "scaled" else 1) + share
    np.testing.assert_array_equal(out, right + 1)


@eas.kernel
def chain(a, b, out):
    at = offsets((16, 16))
    left, right = mk.load(a, at), mk.load(b, at)
    first = mk.dot(left, mk.trans(right))
    mk.store(out, at, mk.dot(mk.maximum(first, 0.0).to(mk.f32), right) + first)


@both_backends
def test_a_product_can_be_a_factor(backend: str) -> None:
    a, b = whole(0, 16, 16), whole(1, 16, 16)
    out = np.zeros((16, 16), np.float32)
    chain[(1,)](a, b, out, _backend=backend)
    first = a @ b.T
    np.testing.assert_array_equal(out, np.maximum(first, 0) @ b + first)


@eas.kernel
def products_in_control_flow(a, b, out, n, FORM: eas.constexpr):
    at = offsets((16, 16))
    left, right = mk.load(a, at), mk.load(b, at)
    acc = mk.zeros((16, 16))
    if FORM == "branch":
        for k in range(n):
            if k % 2 == 0:
                acc = mk.dot(left, right, acc)
    elif FORM == "break":
        for k in range(10):
            acc = mk.dot(left, right, acc)
            if k + 1 == n:
                break
    elif FORM == "nested":
        for _ in range(n):
            for _ in range(2):
                acc = mk.dot(left, right, acc)
    elif FORM == "while":
        k = 0
        while k < n:
            acc = acc + mk.dot(left, right)
            k += 1
    else:
        other = mk.zeros((16, 16))
        for _ in range(n):
            acc = mk.dot(left, right, acc)
            other += mk.dot(right, left)
        acc = acc - other
    mk.store(out, at, acc)


@both_backends
@pytest.mark.parametrize(
    ("form", "times"), [("branch", 2), ("break", 3), ("nested", 6), ("while", 3), ("two", 3)]
)
def test_products_work_in_control_flow(form: str, times: int, backend: str) -> None:
    a, b = whole(0, 16, 16), whole(1, 16, 16)
    out = np.zeros((16, 16), np.float32)
    products_in_control_flow[(1,)](a, b, out, 3, FORM=form, _backend=backend)
    right = a @ b - b @ a if form == "two" else a @ b
    np.testing.assert_array_equal(out, times * right)


@eas.kernel
def add_up_batch(a, b, out, K, SHAPE: eas.constexpr, IS_FLIPPED: eas.constexpr):
    B, M, N = SHAPE
    z, m = mk.arange(0, B)[:, None, None], mk.arange(0, M)[None, :, None]
    n = mk.arange(0, N)[None, None, :]
    acc = mk.zeros((B, M, N))
    for start in range(0, K, 8):
        k = start + mk.arange(0, 8)[None, None, :]
        left = mk.load(a, (z * M + m) * K + k, k < K)
        if IS_FLIPPED:
            rows = mk.load(b, (z * N + mk.permute(n, (0, 2, 1))) * K + k, k < K)
            acc += mk.dot(left, mk.permute(rows, (0, 2, 1)))
        else:
            tall = mk.permute(k, (0, 2, 1))
            acc += mk.dot(left, mk.load(b, (z * K + tall) * N + n, tall < K))
    mk.store(out, (z * M + m) * N + n, acc)


@sampled(5)
@both_backends
@pytest.mark.parametrize("flips", [False, True])
@pytest.mark.parametrize("shape", [(3, 8, 8), (4, 16, 24), (5, 8, 32)], ids=str)
def test_a_loop_adds_up_batches(shape: tuple[int, int, int], flips: bool, backend: str) -> None:
    batch, m, n = shape
    a, b = whole(0, batch, m, 21), whole(1, batch, 21, n)
    given = np.ascontiguousarray(b.transpose(0, 2, 1)) if flips else b
    out = np.zeros(shape, np.float32)
    add_up_batch[(1,)](a, given, out, 21, SHAPE=shape, IS_FLIPPED=flips, _backend=backend)
    np.testing.assert_array_equal(out, a @ b)


@eas.kernel
def product_of_tiles(a, b, out, M, N, K, BM: eas.constexpr, BN: eas.constexpr, BK: eas.constexpr):
    m, n = mk.arange(0, BM)[:, None], mk.arange(0, BN)[None, :]
    acc = mk.zeros((BM, BN))
    for start in range(0, K, BK):
        k = start + mk.arange(0, BK)
        left = mk.load(a, m * K + k[None, :], (m < M) & (k[None, :] < K))
        right = mk.load(b, k[:, None] * N + n, (k[:, None] < K) & (n < N))
        acc = mk.dot(left, right, acc)
    mk.store(out, m * N + n, acc * 2.0, (m < M) & (n < N))


@both_backends
@pytest.mark.parametrize(
    "tile", [(64, 64, 32), (128, 64, 16), (128, 128, 32), (32, 256, 8), (128, 96, 8)], ids=str
)
def test_tiles_of_any_size_are_multiplied(tile: tuple[int, int, int], backend: str) -> None:
    """Also such as threadgroup memory cannot hold twice, or not whole."""
    m, n, k = tile[0] - 3, tile[1] - 5, 45
    a, b = whole(0, m, k), whole(1, k, n)
    out = np.zeros((m, n), np.float32)
    bm, bn, bk = tile
    product_of_tiles[(1,)](a, b, out, m, n, k, BM=bm, BN=bn, BK=bk, _backend=backend)
    np.testing.assert_array_equal(out, 2 * (a @ b))


@both_backends
def test_a_sum_of_no_products_is_what_it_begins_with(backend: str) -> None:
    a, b, out = whole(0, 16, 1), whole(1, 1, 16), np.ones((16, 16), np.float32)
    product_of_tiles[(1,)](a, b, out, 16, 16, 0, BM=16, BN=16, BK=8, _backend=backend)
    np.testing.assert_array_equal(out, np.zeros((16, 16)))


@eas.kernel
def sums_of_many_kinds(a, b, out, R, FORM: eas.constexpr, START: eas.constexpr):
    """Sums that go through loops in loops, branches, unrolled loops and several products."""
    i, k = mk.arange(0, 16), mk.arange(0, 8)
    total = mk.full((16, 16), START)
    if FORM == "conditional":
        for r in range(R):
            for s in range(0, 24, 8):
                left = mk.load(a, (r * 16 + i[:, None]) * 24 + s + k[None, :])
                right = mk.load(b, (r * 24 + s + k[:, None]) * 16 + i[None, :])
                if (r + s // 8) % 3 != 1:
                    total = mk.dot(left, right, total)
    elif FORM == "unrolled":
        for r in mk.static_range(3):
            for s in mk.static_range(0, 24, 8):
                left = mk.load(a, (r * 16 + i[:, None]) * 24 + s + k[None, :])
                right = mk.load(b, (r * 24 + s + k[:, None]) * 16 + i[None, :])
                total += mk.dot(left, right)
    else:
        for r in range(R):
            acc = mk.zeros((16, 16))
            for s in range(0, 24, 8):
                left = mk.load(a, (r * 16 + i[:, None]) * 24 + s + k[None, :])
                right = mk.load(b, (r * 24 + s + k[:, None]) * 16 + i[None, :])
                acc = mk.dot(left, right, acc)
                acc = mk.dot(left * 2.0, right, acc)
            total = total * 0.5 + acc
    mk.store(out, i[:, None] * 16 + i[None, :], total)


@sampled(5)
@both_backends
@pytest.mark.parametrize("start", [0.0, 2.0])
@pytest.mark.parametrize("form", ["conditional", "unrolled", "begun anew"])
def test_sums_go_through_control_flow(form: str, start: float, backend: str) -> None:
    a, b = whole(0, 3, 16, 24), whole(1, 3, 24, 16)
    out = np.zeros((16, 16), np.float32)
    sums_of_many_kinds[(1,)](a, b, out, 3, FORM=form, START=start, _backend=backend)
    right = np.full((16, 16), start, np.float32)
    for r in range(3):
        if form == "begun anew":
            right = right * 0.5 + 3 * (a[r] @ b[r])
            continue
        for s in (0, 8, 16):
            if form == "unrolled" or (r + s // 8) % 3 != 1:
                right += a[r, :, s : s + 8] @ b[r, s : s + 8]
    np.testing.assert_array_equal(out, right)
