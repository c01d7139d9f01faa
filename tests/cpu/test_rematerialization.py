"""Rematerialized blocks: their values are those of the first load."""

from __future__ import annotations

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.passes import relax
from eas.llvm.kernel import write


@eas.kernel
def centre(x, y, z, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    v = mk.load(x, i, i < N)
    centred = mk.where(i < N, v - mk.sum(v) / N, 0.0)
    mk.store(y, i, centred * mk.sum(centred * centred), i < N)
    mk.store(z, i, centred + v, i < N)


@pytest.mark.parametrize("size", [1, 3, 40, 1000, 5000])
def test_a_rematerialized_block_has_the_same_values(size: int) -> None:
    x = np.random.default_rng(0).standard_normal(size).astype("f4")
    y, z = np.zeros(size, "f4"), np.zeros(size, "f4")
    centre[1](x, y, z, size, BLOCK=size + 5, _backend="cpu")
    centred = x - x.mean()
    np.testing.assert_allclose(y, centred * (centred * centred).sum(), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(z, centred + x, rtol=1e-3, atol=1e-5)


def test_a_block_of_an_array_that_is_written_has_a_tile() -> None:
    x = np.arange(100, dtype="f4")
    before, z = x.copy(), np.zeros(100, "f4")
    centre[1](x, x, z, 100, BLOCK=128, _backend="cpu")
    centred = before - before.mean()
    np.testing.assert_allclose(z, centred + before, rtol=1e-4, atol=1e-3)


def test_a_block_that_a_loop_would_load_in_each_trip_has_a_tile() -> None:
    @eas.kernel
    def scale(x, y, TIMES, BLOCK: eas.constexpr):
        i = mk.arange(0, BLOCK)
        v = mk.load(x, i)
        for n in range(TIMES):
            mk.store(y, n * BLOCK + i, v * mk.sum(v))

    x, y = np.ones(100, "f4"), np.zeros(300, "f4")
    scale[1](x, y, 3, BLOCK=100, _backend="cpu")
    np.testing.assert_array_equal(y, 100)
    text = write(relax(scale.compile(x, y, 3, BLOCK=100).function), 8, has_nontemporal=False)
    assert text.count("alloca [108 x float]") == 1


def test_rows_instead_of_blocks_have_no_tile() -> None:
    arguments = (np.ones(100, "f4"), np.ones(100, "f4"), np.ones(100, "f4"), 100)
    text = write(relax(centre.compile(*arguments, BLOCK=128).function), 8, has_nontemporal=False)
    assert "x float], align" not in text


def test_a_block_that_every_step_uses_twice_is_not_traced_along_all_paths() -> None:
    @eas.kernel
    def fold(x, y, STEPS: eas.constexpr, BLOCK: eas.constexpr):
        i = mk.arange(0, BLOCK)
        v = mk.load(x, i)
        for _ in mk.static_range(STEPS):
            w = mk.flip(v)
            v = mk.maximum(v, w) - mk.minimum(v, w) * 0.5
        mk.store(y, i, v)

    x, y = np.linspace(0, 1, 16, dtype="f4"), np.zeros(16, "f4")
    expected = x
    for _ in range(40):
        w = expected[::-1]
        expected = np.maximum(expected, w) - np.minimum(expected, w) * np.float32(0.5)
    fold[1](x, y, STEPS=40, BLOCK=16, _backend="cpu")
    np.testing.assert_array_equal(y, expected)


def test_a_scalar_that_a_loop_over_lanes_defines_is_usable_after_it() -> None:
    @eas.kernel
    def halve(x, y, counts, n, BLOCK: eas.constexpr):
        i = mk.arange(0, BLOCK)
        v = mk.load(x, i)
        while n > 1:
            n //= 2
            v *= 0.5
        counts[0] = n * 3 + 1
        mk.store(y, i, v)

    x, y, counts = np.ones(10, "f4"), np.zeros(10, "f4"), np.zeros(1, "i4")
    halve[1](x, y, counts, 9, BLOCK=10, _backend="cpu")
    np.testing.assert_array_equal(y, 0.125)
    assert counts[0] == 4


@eas.kernel
def weigh(x, weight, y, M, ROWS: eas.constexpr, COLUMNS: eas.constexpr):
    r, c = mk.program_id(0) * ROWS + mk.arange(0, ROWS), mk.arange(0, COLUMNS)
    v = mk.load(x, r[:, None] * COLUMNS + c[None, :], (r < M)[:, None])
    centred = v - mk.sum(v, axis=1)[:, None] / COLUMNS
    scaled = centred * mk.rsqrt(mk.sum(centred * centred, axis=1))[:, None]
    scaled *= mk.load(weight, c)[None, :]
    mk.store(y, r[:, None] * COLUMNS + c[None, :], scaled, (r < M)[:, None])


@pytest.mark.parametrize(("rows", "columns"), [(1, 64), (4, 100), (3, 7)])
def test_a_row_that_is_broadcast_is_read_up_to_its_end(rows: int, columns: int) -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal((10, columns), np.float32)
    y, w = np.zeros_like(x), random.standard_normal(columns, np.float32)
    weigh[-(-10 // rows)](x, w, y, 10, ROWS=rows, COLUMNS=columns, _backend="cpu")
    centred = x - x.mean(axis=1, keepdims=True)
    expected = centred / np.sqrt((centred * centred).sum(axis=1, keepdims=True)) * w
    np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-5)


def test_a_row_that_is_broadcast_has_no_tile() -> None:
    function = weigh.compile("*f32", "*f32", "*f32", "i32", ROWS=4, COLUMNS=100).function
    assert "[408 x float]" not in write(relax(function), 8, has_nontemporal=False)
    assert "[108 x float]" not in write(relax(function), 8, has_nontemporal=False)
