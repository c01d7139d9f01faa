"""What simdgroups do, with a last one that is not full, on each backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.ops.reduce import accumulator
from eas.ir.types import DTYPES
from tests.backends import BACKENDS

Array = np.ndarray[Any, np.dtype[Any]]
THREADS = 70


@eas.kernel
def meet(x, total, high, low, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    v = mk.load(x, t)
    mk.store(total, t, mk.simd_sum(v))
    mk.store(high, t, mk.simd_max(v))
    mk.store(low, t, mk.simd_min(v))


@eas.kernel
def count(x, total, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    mk.store(total, t, mk.simd_sum(mk.load(x, t)))


NUMBERS = [name for name in DTYPES if name != "bool"]
on_every_backend = pytest.mark.parametrize(
    ("name", "backend"),
    [(n, b) for n in NUMBERS for b in BACKENDS if n != "f64" or b in ("interpret", "cpu")],
)


def in_groups(function: Any, x: Array, result: str) -> Array:
    """What a function gives for each simdgroup, in each of its threads."""
    groups = [x[start : start + 32] for start in range(0, x.size, 32)]
    return np.concatenate([np.full(g.size, function(g), DTYPES[result].numpy) for g in groups])


@on_every_backend
@pytest.mark.parametrize("threads", [64, 70, 5])
def test_reductions_of_a_simdgroup_agree_with_numpy(name: str, backend: str, threads: int) -> None:
    x = (np.arange(threads) * 7 % 13 - (0 if name[0] == "u" else 6)).astype(DTYPES[name].numpy)
    added = accumulator(DTYPES[name]).name
    total, high, low = np.zeros(threads, DTYPES[added].numpy), np.zeros_like(x), np.zeros_like(x)
    meet[(1,)](x, total, high, low, THREADS=threads, _backend=backend)
    wide = x.astype(np.float64 if x.dtype.kind not in "iu" else np.int64)
    np.testing.assert_array_equal(total, in_groups(np.sum, wide, added))
    np.testing.assert_array_equal(high, in_groups(np.max, wide, name))
    np.testing.assert_array_equal(low, in_groups(np.min, wide, name))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"])
def test_sums_of_a_simdgroup_wrap_at_the_width_of_a_sum(name: str, backend: str) -> None:
    dtype = DTYPES[name]
    added = accumulator(dtype)
    x = np.array([dtype.max - t % 3 for t in range(THREADS)], dtype.numpy)
    total = np.zeros(THREADS, added.numpy)
    count[(1,)](x, total, THREADS=THREADS, _backend=backend)
    groups = [x[start : start + 32].tolist() for start in range(0, THREADS, 32)]
    sums = [sum(group) % 2**added.bits for group in groups for _ in group]
    unsigned = np.dtype(f"u{added.bits // 8}")
    np.testing.assert_array_equal(total.view(unsigned), np.array(sums, unsigned))


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_sum_of_bools_counts_them(backend: str) -> None:
    x, total = np.arange(THREADS) % 3 == 0, np.zeros(THREADS, np.int32)
    count[(1,)](x, total, THREADS=THREADS, _backend=backend)
    np.testing.assert_array_equal(total, in_groups(np.sum, x, "i32"))


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


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["f16", "bf16", "f32"])
def test_a_nan_is_neither_the_greatest_nor_the_least(name: str, backend: str) -> None:
    x = np.arange(1, THREADS + 1).astype(DTYPES[name].numpy)
    x[[0, 5, 33]] = np.nan
    x[64:] = np.nan
    total, high, low = np.zeros((3, THREADS), x.dtype)
    meet[(1,)](x, total, high, low, THREADS=THREADS, _backend=backend)
    np.testing.assert_array_equal(high[[0, 32, 64]], [32, 64, -np.inf])
    np.testing.assert_array_equal(low[[0, 32, 64]], [2, 33, np.inf])
    assert np.isnan(total).all()


@eas.kernel
def exchange(x, out, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    v = mk.load(x, t)
    mk.store(out, t, mk.simd_shuffle(v, (t + 1) % 4))
    mk.store(out, THREADS + t, mk.simd_shuffle_xor(v, 5))
    mk.store(out, 2 * THREADS + t, mk.simd_broadcast(v, 3))


@pytest.mark.parametrize(
    ("name", "backend"),
    [(n, b) for n in DTYPES for b in BACKENDS if n != "f64" or b in ("interpret", "cpu")],
)
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
