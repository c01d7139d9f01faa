"""Arrays of JAX and MLX as arguments: they are read where they are, and not written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.runtime.refusals import LaunchError


@eas.kernel
def double(x, y, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(y, i, mk.load(x, i, i < N) * 2, i < N)


def test_an_array_of_jax_is_read() -> None:
    jax_numpy: Any = pytest.importorskip("jax.numpy")
    y = np.zeros(100, np.float32)
    for _ in range(2):  # the second launch takes the fast path
        double(jax_numpy.arange(100, dtype="float32"), y, 100, BLOCK=64)
    np.testing.assert_array_equal(y, 2 * np.arange(100))


def test_an_array_of_jax_is_not_written() -> None:
    jax_numpy: Any = pytest.importorskip("jax.numpy")
    x, y = np.ones(10, np.float32), jax_numpy.zeros(10)
    with pytest.raises(LaunchError, match=r"argument `y`: .* read-only"):
        double(x, y, 10, BLOCK=16)
    assert y.tolist() == [0.0] * 10


def test_an_array_of_mlx_is_read() -> None:
    mx: Any = pytest.importorskip("mlx.core")
    y = np.zeros(100, np.float32)
    for _ in range(2):
        double(mx.arange(100, dtype=mx.float32) + 1, y, 100, BLOCK=64)
    np.testing.assert_array_equal(y, 2 * np.arange(1, 101))
