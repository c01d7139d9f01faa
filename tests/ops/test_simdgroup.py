"""What simdgroups do, with a last one that is not full, on each backend."""

from __future__ import annotations

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.types import DTYPES

BACKENDS = ("interpret", "cpu", "msl-host")
THREADS = 70


@eas.kernel
def meet(x, total, high, low, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    v = mk.load(x, t)
    mk.store(total, t, mk.simd_sum(v))
    mk.store(high, t, mk.simd_max(v))
    mk.store(low, t, mk.simd_min(v))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["i32", "u32", "f16", "f32"])
def test_reductions_of_a_simdgroup_agree_with_numpy(name: str, backend: str) -> None:
    x = (np.arange(THREADS) * 7 % 13).astype(DTYPES[name].numpy)
    out = [np.zeros_like(x) for _ in range(3)]
    meet[(1,)](x, *out, THREADS=THREADS, _backend=backend)
    groups = [x[start : start + 32] for start in range(0, THREADS, 32)]
    for result, function in zip(out, (np.sum, np.max, np.min), strict=True):
        expected = [np.full(g.size, function(g), x.dtype) for g in groups]
        np.testing.assert_array_equal(result, np.concatenate(expected))


@eas.kernel
def exchange(x, out, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    v = mk.load(x, t)
    mk.store(out, t, mk.simd_shuffle(v, (t + 1) % 4))
    mk.store(out, THREADS + t, mk.simd_shuffle_xor(v, 5))
    mk.store(out, 2 * THREADS + t, mk.simd_broadcast(v, 3))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", [name for name in DTYPES if name != "f64"])
def test_lanes_exchange_values_of_every_dtype(name: str, backend: str) -> None:
    x = (np.arange(64) * 5 % 61).astype(DTYPES[name].numpy)
    out = np.zeros((3, 64), x.dtype)
    exchange[(1,)](x, out, THREADS=64, _backend=backend)
    lane, group = np.arange(64) % 32, np.arange(64) // 32 * 32
    np.testing.assert_array_equal(out[0], x[group + (np.arange(64) + 1) % 4])
    np.testing.assert_array_equal(out[1], x[group + (lane ^ 5)])
    np.testing.assert_array_equal(out[2], x[group + 3])


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
