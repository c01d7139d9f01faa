"""Products whose factors a kernel has in threadgroup memory: fragments read them where they lie."""

from __future__ import annotations

import itertools
import re
from random import Random
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.types import BF16, F16, F32, DType, from_numpy
from eas.msl.host import Host
from tests.fuzz.matrices import PROGRAMS, TRIPS
from tests.fuzz.resident import ELEMENTS, write_resident
from tests.fuzz.running import load
from tests.host.alike import Arrays, Trial, check_trials, run_trials
from tests.thorough import batches, sampled

BATCH = 4
RINGS = list(itertools.product((1, 2, 3), (0, 4), (F32, F16, BF16)))
M, N, K, TILES = 16, 24, 8, 5


@eas.kernel
def ring(x, y, out, SLOTS: eas.constexpr, PAD: eas.constexpr):
    """Copies the next tiles while it multiplies these; with one slot it multiplies first."""
    i, j, k = mk.arange(0, M), mk.arange(0, N), mk.arange(0, K)
    left = mk.alloc_tg(SLOTS * M * (K + PAD), x.dtype)
    right = mk.alloc_tg(SLOTS * K * (N + PAD), y.dtype)
    rows, left_at = i[:, None] * (K * TILES) + k[None, :], i[:, None] * (K + PAD) + k[None, :]
    columns, right_at = k[:, None] * N + j[None, :], k[:, None] * (N + PAD) + j[None, :]
    mk.store(left, left_at, mk.load(x, rows))
    mk.store(right, right_at, mk.load(y, columns))
    acc = mk.zeros((M, N))
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
    """Both factors lie in memory as their transposes do."""
    i, j, k = mk.arange(0, M), mk.arange(0, N), mk.arange(0, K)
    left, right = mk.alloc_tg(K * M, x.dtype), mk.alloc_tg(N * K, y.dtype)
    left_at, right_at = k[:, None] * M + i[None, :], j[:, None] * K + k[None, :]
    mk.store(left, left_at, mk.load(x, left_at))
    mk.store(right, right_at, mk.load(y, right_at))
    product = mk.dot(mk.trans(mk.load(left, left_at)), mk.trans(mk.load(right, right_at)))
    mk.store(out, i[:, None] * N + j[None, :], product)


@eas.kernel
def batched(x, y, out):
    """Three products at once, of which only the left factors lie in threadgroup memory."""
    z = mk.arange(0, 3)[:, None, None]
    i, j, k = mk.arange(0, M), mk.arange(0, N), mk.arange(0, K)
    left = mk.alloc_tg(3 * M * (K + 2), x.dtype)
    at = z * (M * (K + 2)) + i[None, :, None] * (K + 2) + k[None, None, :]
    mk.store(left, at, mk.load(x, z * (M * K) + i[None, :, None] * K + k[None, None, :]))
    b = mk.load(y, z * (K * N) + k[None, :, None] * N + j[None, None, :])
    product = mk.dot(mk.load(left, at), b)
    mk.store(out, z * (M * N) + i[None, :, None] * N + j[None, None, :], product)


@eas.kernel
def changed_before(x, y, out):
    """The matrix changes after it is loaded: the product is that of the old one."""
    i, j, k = mk.arange(0, M), mk.arange(0, N), mk.arange(0, K)
    left = mk.alloc_tg(M * K, x.dtype)
    at = i[:, None] * K + k[None, :]
    mk.store(left, at, mk.load(x, at))
    a = mk.load(left, at)
    mk.store(left, at, a + a)
    mk.store(out, i[:, None] * N + j[None, :], mk.dot(a, mk.load(y, k[:, None] * N + j[None, :])))


@eas.kernel
def changed_in_loop(x, y, out):
    """A trip changes the matrix that all trips multiply by."""
    i, j, k = mk.arange(0, M), mk.arange(0, N), mk.arange(0, K)
    left = mk.alloc_tg(M * K, x.dtype)
    at = i[:, None] * K + k[None, :]
    mk.store(left, at, mk.load(x, at))
    a, b = mk.load(left, at), mk.load(y, k[:, None] * N + j[None, :])
    acc = mk.zeros((M, N))
    for _ in range(3):
        acc = mk.dot(a, b, acc)
        mk.store(left, at, mk.load(left, at) + a)
    mk.store(out, i[:, None] * N + j[None, :], acc)


@eas.kernel
def every_other_column(x, y, out):
    """The columns of the matrix are not next to each other, which fragments cannot read."""
    i, j, k = mk.arange(0, M), mk.arange(0, N), mk.arange(0, K)
    left = mk.alloc_tg(2 * M * K, x.dtype)
    at = i[:, None] * K + k[None, :]
    mk.store(left, 2 * at, mk.load(x, at))
    b = mk.load(y, k[:, None] * N + j[None, :])
    mk.store(out, i[:, None] * N + j[None, :], mk.dot(mk.load(left, 2 * at), b))


def numbers(*shape: int, dtype: DType = F32) -> Any:
    return np.random.default_rng(len(shape)).integers(-3, 4, shape).astype(dtype.numpy)


def trial_of(kernel: Any, x: Any, y: Any, expected: Any, **constants: int) -> Trial:
    name = f"*{from_numpy(x.dtype)}"
    compiled = kernel.compile(name, name, "*f32", **constants)

    def arrays() -> Arrays:
        return {"x": x.copy(), "y": y.copy(), "out": np.zeros(expected.size, "f4")}

    def bind(given: Arrays) -> list[Any]:
        return compiled.binding.bind(dict(given))

    wanted = {"out": expected.astype("f4").ravel()}
    return Trial(kernel.name, compiled.function, compiled.metal, arrays, bind, (1,), wanted)


def try_everywhere(trial: Trial, host: Host, checked_host: Host) -> list[str]:
    """Runs a kernel on all backends, and in check mode; gives the arrays of its Metal."""
    run_trials(host, [trial])
    check_trials(checked_host, [trial])
    return re.findall(r"threadgroup \w+ (\w+)\[", trial.metal.text)


def product(x: Any, y: Any) -> Any:
    return x.astype("f4") @ y.astype("f4")


@sampled(4)
@pytest.mark.parametrize(("slots", "pad", "dtype"), RINGS, ids=str)
def test_the_tiles_of_a_ring_are_multiplied_where_they_lie(
    host: Host, checked_host: Host, slots: int, pad: int, dtype: DType
) -> None:
    x, y = numbers(M, K * TILES, dtype=dtype), numbers(K * TILES, N, dtype=dtype)
    trial = trial_of(ring, x, y, product(x, y), SLOTS=slots, PAD=pad)
    assert try_everywhere(trial, host, checked_host) == ["left", "right", "acc_shared"]
    loop = trial.metal.text.partition("for (int t")[2].partition("\n    }")[0]
    assert loop.count("threadgroup_barrier") == (2 if slots == 1 else 1)


@pytest.mark.parametrize("dtype", [F32, F16], ids=str)
def test_a_transposed_matrix_is_multiplied_where_it_lies(
    host: Host, checked_host: Host, dtype: DType
) -> None:
    x, y = numbers(K, M, dtype=dtype), numbers(N, K, dtype=dtype)
    trial = trial_of(transposed, x, y, product(x.T, y.T))
    assert try_everywhere(trial, host, checked_host) == ["left", "right", "product_shared"]


def test_one_factor_of_several_products_is_multiplied_where_it_lies(
    host: Host, checked_host: Host
) -> None:
    x, y = numbers(3, M, K), numbers(3, K, N)
    trial = trial_of(batched, x, y, product(x, y))
    arrays = try_everywhere(trial, host, checked_host)
    assert arrays == ["left", "b_tile", "product_shared"]


@pytest.mark.parametrize(
    ("kernel", "times"), [(changed_before, 1), (changed_in_loop, 3), (every_other_column, 1)]
)
def test_a_matrix_that_fragments_must_not_read_is_copied(
    host: Host, checked_host: Host, kernel: Any, times: int
) -> None:
    x, y = numbers(M, K), numbers(K, N)
    trial = trial_of(kernel, x, y, times * product(x, y))
    arrays = try_everywhere(trial, host, checked_host)
    assert "_rows_" not in trial.metal.text
    assert any(name in ("a_tile", "left_tile") for name in arrays), arrays


@pytest.mark.parametrize("batch", batches("EAS_FUZZ_RESIDENT", BATCH, always=4, thoroughly=24))
def test_random_products_from_threadgroup_memory_give_what_the_interpreter_gives(
    host: Host, checked_host: Host, batch: int
) -> None:
    trials = [resident_of(seed) for seed in range(batch * BATCH, (batch + 1) * BATCH)]
    run_trials(host, trials)
    check_trials(checked_host, trials)


def resident_of(seed: int) -> Trial:
    text, size = write_resident(Random(seed))
    x = np.random.default_rng(seed).integers(-1, 2, ELEMENTS).astype("f4")

    def arrays() -> Arrays:
        return {"x": x.copy(), "out": np.zeros(PROGRAMS * size, "f4")}

    compiled = load(text)["compute"].compile("*f32", "*f32", "i32")

    def bind(given: Arrays) -> list[Any]:
        return compiled.binding.bind({**given, "n": TRIPS})

    name = f"seed {seed}:\n\n{text}"
    return Trial(name, compiled.function, compiled.metal, arrays, bind, (PROGRAMS,))
