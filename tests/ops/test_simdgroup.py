"""Simdgroups beyond the table: sums that are rounded, and votes before lanes diverge."""

from __future__ import annotations

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.types import DTYPES
from tests.backends import BACKENDS

THREADS = 70


@eas.kernel
def count(x, total, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    mk.store(total, t, mk.simd_sum(mk.load(x, t)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_narrow_floats_are_added_up_in_f32_and_rounded_once(name: str, backend: str) -> None:
    """Each step on the way from 1 up would be lost in the narrow dtype."""
    dtype = DTYPES[name].numpy
    x = np.array([256.0] + [0.5 if name == "bf16" else 0.0625] * 31, dtype)
    total = np.zeros_like(x)
    count[(1,)](x, total, THREADS=32, _backend=backend)
    exact = np.float32(x.astype(np.float64).sum()).astype(dtype)
    np.testing.assert_array_equal(total, np.full(32, exact))


@eas.kernel
def vote(x, out, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    is_positive = mk.load(x, t) > 0
    some, every = mk.simd_any(is_positive), mk.simd_all(is_positive)
    if some and not every:
        mk.store(out, t, 1)


@pytest.mark.parametrize("backend", BACKENDS)
def test_lanes_vote_before_they_part(backend: str) -> None:
    x = np.ones(THREADS, np.int32)
    x[40] = 0
    out = np.zeros(THREADS, np.int32)
    vote[(1,)](x, out, THREADS=THREADS, _backend=backend)
    np.testing.assert_array_equal(out, np.arange(THREADS) // 32 == 1)
