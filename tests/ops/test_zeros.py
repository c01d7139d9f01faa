"""Of 0.0 and -0.0 the first is the greater one: on every backend, in every order and form."""

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.config import Backend
from tests.backends import BACKENDS
from tests.thorough import sampled

on_every_backend = pytest.mark.parametrize("backend", BACKENDS)
FORMATS: tuple[tuple[str, Any], ...] = (
    ("float16", mk.f16),
    ("float32", mk.f32),
    ("float64", mk.f64),
    ("float32", mk.bf16),
)
every_format = pytest.mark.parametrize(("numpy_name", "dtype"), FORMATS)
A = [-0.0, 0.0, -0.0, 0.0, np.nan, -0.0, 1.0, -1.0]
B = [0.0, -0.0, -0.0, 0.0, -0.0, np.nan, -0.0, 0.0]
GREATER = [False, False, True, False, True, True, False, False]
LESSER = [True, True, True, False, True, True, True, True]


@eas.kernel
def of_blocks(a, b, out, DTYPE: eas.constexpr):
    i = mk.arange(0, 8)
    x, y = mk.cast(mk.load(a, i), DTYPE), mk.cast(mk.load(b, i), DTYPE)
    mk.store(out, i, mk.maximum(x, y))
    mk.store(out, 8 + i, mk.minimum(x, y))


@eas.kernel
def of_scalars(a, b, out, DTYPE: eas.constexpr):
    i = mk.program_id(0)
    x, y = mk.cast(mk.load(a, i), DTYPE), mk.cast(mk.load(b, i), DTYPE)
    mk.store(out, i, mk.maximum(x, y))
    mk.store(out, 8 + i, mk.minimum(x, y))


@every_format
@on_every_backend
@pytest.mark.parametrize(("kernel", "programs"), [(of_blocks, 1), (of_scalars, 8)])
def test_zeros_have_an_order(
    backend: Backend, numpy_name: str, dtype: Any, kernel: Any, programs: int
) -> None:
    if dtype == mk.f64 and backend not in ("interpret", "cpu"):
        pytest.skip("Metal has no f64")
    a, b = np.array(A, numpy_name), np.array(B, numpy_name)
    out = np.zeros(16, numpy_name)
    kernel[programs](a, b, out, DTYPE=dtype, _backend=backend)
    assert np.signbit(out[:8]).tolist() == GREATER
    assert np.signbit(out[8:]).tolist() == LESSER


@eas.kernel
def with_constants(x, out, N: eas.constexpr):
    i = mk.arange(0, N)
    v = mk.load(x, i)
    mk.store(out, i, mk.maximum(v, 0.0))
    mk.store(out, N + i, mk.maximum(-0.0, v))
    mk.store(out, 2 * N + i, mk.minimum(v, -0.0))
    mk.store(out, 3 * N + i, mk.minimum(0.0, v))
    mk.store(out, 4 * N + i, mk.clamp(v, 0.0, 1.0))
    mk.store(out, 5 * N + i, mk.clamp(v, -1.0, -0.0))
    mk.store(out, 6 * N + i, mk.maximum(mk.zeros((N,)), -mk.zeros((N,))))
    mk.store(out, 7 * N + i, mk.minimum(mk.zeros((N,)), -mk.zeros((N,))))


@on_every_backend
def test_constants_take_part_in_the_order(backend: Backend) -> None:
    x, out = np.array([-0.0, 0.0, np.nan], "f4"), np.ones(24, "f4")
    with_constants[1](x, out, N=3, _backend=backend)
    assert (np.signbit(out).reshape(8, 3) * 1).tolist() == [
        [0, 0, 0], [1, 0, 1], [1, 1, 1], [1, 0, 0], [0, 0, 0], [1, 1, 1], [0, 0, 0], [1, 1, 1],
    ]  # fmt: skip
    assert not np.isnan(out).any()


@eas.kernel
def extremes(x, out, M: eas.constexpr, N: eas.constexpr, DTYPE: eas.constexpr):
    i, j = mk.arange(0, M), mk.arange(0, N)
    v = mk.cast(mk.load(x, i[:, None] * N + j[None, :]), DTYPE)
    mk.store(out, i, mk.max(v, axis=1))
    mk.store(out, M + i, mk.min(v, axis=1))
    mk.store(out, 2 * M + j, mk.max(v, axis=0))
    mk.store(out, 2 * M + N + j, mk.min(v, axis=0))
    mk.store(out, 2 * M + 2 * N, mk.max(v))
    mk.store(out, 2 * M + 2 * N + 1, mk.min(v))


@sampled(5)
@every_format
@on_every_backend
@pytest.mark.parametrize(("rows", "columns"), [(3, 2), (5, 32), (2, 45), (40, 4)])
def test_reductions_keep_the_order_of_zeros(
    backend: Backend, numpy_name: str, dtype: Any, rows: int, columns: int
) -> None:
    if dtype == mk.f64 and backend not in ("interpret", "cpu"):
        pytest.skip("Metal has no f64")
    for seed in range(3):
        random = np.random.default_rng(seed)
        x = np.where(random.integers(0, 8, (rows, columns)) == 0, 0.0, -0.0).astype(numpy_name)
        if seed == 2:
            x = -x
        out = np.ones(2 * (rows + columns) + 2, numpy_name)
        extremes[1](x, out, M=rows, N=columns, DTYPE=dtype, _backend=backend)
        has_minus: Any = np.signbit(x)
        has_plus: Any = ~has_minus
        expected = [
            *~has_plus.any(1), *has_minus.any(1), *~has_plus.any(0), *has_minus.any(0),
            not has_plus.any(), has_minus.any(),
        ]  # fmt: skip
        assert np.signbit(out).tolist() == expected
