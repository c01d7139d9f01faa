"""Kernels in the forms of Triton, on each backend, with sizes that are no multiples of a block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.backends import BACKENDS
from tests.ported import kernels

Array = np.ndarray[Any, np.dtype[Any]]
every_backend = pytest.mark.parametrize("backend", BACKENDS)


def normal(*shape: int, dtype: str = "float32") -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


@every_backend
def test_vector_addition(backend: str) -> None:
    x, y = normal(2, 1000)
    out = np.zeros_like(x)
    kernels.add[(4,)](x, y, out, 1000, BLOCK=256, _backend=backend)
    np.testing.assert_array_equal(out, x + y)


@every_backend
def test_fused_softmax_with_few_programs(backend: str) -> None:
    x = normal(19, 50)
    out = np.zeros_like(x)
    kernels.softmax[(4,)](out, x, 50, 50, 19, 50, BLOCK=64, num_stages=2, _backend=backend)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=1e-5)


BLOCKS = {"BM": 16, "BN": 32, "BK": 16}


def strides(*matrices: Array) -> list[int]:
    return [step // m.itemsize for m in matrices for step in m.strides]


def factors(rows: int, inner: int, columns: int) -> tuple[Array, Array, Array, Array]:
    a, b = normal(rows, inner, dtype="float16"), normal(inner, columns, dtype="float16")
    exact = a.astype(np.float32) @ b.astype(np.float32)
    return a, b, np.zeros((rows, columns), np.float16), exact


@every_backend
def test_matrix_product_in_groups(backend: str) -> None:
    a, b, c, exact = factors(50, 40, 70)
    kernels.matmul[(4 * 3,)](
        *(a, b, c, 50, 70, 40, *strides(a, b, c)),
        **BLOCKS,
        GROUP=2,
        ACTIVATION="leaky_relu",
        _backend=backend,
    )
    np.testing.assert_allclose(c, np.where(exact >= 0, exact, 0.01 * exact), rtol=2e-3, atol=2e-3)


@every_backend
def test_matrix_product_of_persistent_programs(backend: str) -> None:
    a, b, c, exact = factors(50, 40, 70)
    kernels.persistent_matmul[(3,)](
        *(a, b, c, 50, 70, 40, *strides(a, b, c)), **BLOCKS, GROUP=2, PROGRAMS=3, _backend=backend
    )
    np.testing.assert_allclose(c, exact, rtol=2e-3, atol=2e-3)


@every_backend
def test_matrix_product_by_block_pointers(backend: str) -> None:
    a, b, c, exact = factors(50, 40, 70)
    kernels.matmul_by_block_pointers[(4, 3)](
        a, b, c, 50, 70, 40, *strides(a, b, c), **BLOCKS, _backend=backend
    )
    np.testing.assert_allclose(c, exact, rtol=2e-3, atol=2e-3)


@every_backend
def test_dropout_by_a_mask_of_ints(backend: str) -> None:
    x, out = normal(100), np.zeros(100, np.float32)
    keep = (np.arange(100) % 3 > 0).astype(np.int32)
    kernels.masked_dropout[(2,)](x, keep, out, 100, 0.5, BLOCK=64, _backend=backend)
    np.testing.assert_array_equal(out, np.where(keep, x / np.float32(0.5), 0))


@every_backend
def test_dropout_by_a_seed(backend: str) -> None:
    x, out = normal(1000), np.zeros((2, 1000), np.float32)
    for row in out:
        kernels.seeded_dropout[(4,)](x, row, 1000, 0.5, 123, BLOCK=256, _backend=backend)
    np.testing.assert_array_equal(out[0], out[1])
    kept = out[0] != 0
    np.testing.assert_array_equal(out[0][kept], x[kept] * 2)
    assert 400 < kept.sum() < 600


@every_backend
def test_layer_norm_forward_and_backward(backend: str) -> None:
    rows, columns = 9, 50
    x, grad = normal(2, rows, columns)
    weight, bias = normal(2, columns)
    y, mean, rstd = np.zeros_like(x), np.zeros(rows, np.float32), np.zeros(rows, np.float32)
    kernels.layer_norm[(rows,)](
        x, y, weight, bias, mean, rstd, columns, columns, 1e-5, BLOCK=32, _backend=backend
    )
    normed = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(y, normed * weight + bias, rtol=1e-4, atol=1e-5)

    grad_x, partial = np.zeros_like(x), np.zeros((2, 4, columns), np.float32)
    kernels.layer_norm_gradient[(rows,)](
        *(grad_x, grad, *partial, x, weight, mean, rstd, columns, columns),
        GROUPS=4,
        BLOCK=64,
        _backend=backend,
    )
    total = np.zeros((2, columns), np.float32)
    kernels.sums_of_columns[(2,)](*partial, *total, 4, columns, BM=8, BN=32, _backend=backend)
    scaled = grad * weight
    projected = normed * (normed * scaled).mean(1, keepdims=True)
    exact = (scaled - projected - scaled.mean(1, keepdims=True)) * rstd[:, None]
    np.testing.assert_allclose(grad_x, exact, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(total, [(grad * normed).sum(0), grad.sum(0)], rtol=1e-4, atol=1e-5)


@every_backend
@pytest.mark.parametrize("is_causal", [True, False])
def test_fused_attention(is_causal: bool, backend: str) -> None:
    heads, length, width = 2, 64, 32
    q, k, v = normal(3, heads, length, width, dtype="float16")
    out, log_sums = np.zeros_like(q), np.zeros((heads, length), np.float32)
    steps = [step // 2 for step in q.strides]
    kernels.attention[(length // 16, heads)](
        *(q, k, v, 0.5, log_sums, out, *steps, length),
        WIDTH=width,
        BM=16,
        BN=16,
        IS_CAUSAL=is_causal,
        _backend=backend,
    )
    scores = 0.5 * q.astype(np.float32) @ k.astype(np.float32).transpose(0, 2, 1)
    if is_causal:
        scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    exact = weights @ v.astype(np.float32) / weights.sum(-1, keepdims=True)
    np.testing.assert_allclose(out, exact, rtol=2e-2, atol=5e-3)
