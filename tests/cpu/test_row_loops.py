"""Programs of several rows: each row gives what it gives in a program of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.lowering.row_loops import loop_over_rows
from eas.ir.nodes import For, walk
from eas.ir.passes import relax
from eas.ir.stages import RELAXED
from eas.ir.verify import verify
from tests.kernels.case import floats


@eas.kernel
def normalize(x, weight, y, means, best, M, N, ROWS: eas.constexpr, COLUMNS: eas.constexpr):
    r = mk.program_id(0) * ROWS + mk.arange(0, ROWS)
    c = mk.arange(0, COLUMNS)[None, :]
    mask = (r[:, None] < M) & (c < N)
    v = mk.load(x, r[:, None] * N + c, mask)
    mean = mk.sum(v, axis=1) / N
    centred = mk.where(mask, v - mean[:, None], 0.0)
    spread = mk.sqrt(mk.sum(centred * centred, axis=1, keep_dims=True) / N)
    scaled = centred / spread * mk.load(weight, c, c < N) + mk.load(weight, r % 7)[:, None]
    mk.store(y, r[:, None] * N + c, scaled, mask)
    mk.store(means, r, mean, r < M)
    mk.store(best, r[:, None], mk.argmax(v, axis=1)[:, None], r[:, None] < M)


@pytest.mark.parametrize(("rows", "columns"), [(2, 64), (4, 128), (64, 64), (7, 100)])
def test_rows_of_one_program_are_each_by_itself(rows: int, columns: int) -> None:
    m, n = 23, columns - 3
    x, weight = floats(m, n) + 1, floats(n, seed=1)
    y, means, best = np.zeros((m, n), "f4"), np.zeros(m, "f4"), np.zeros(m, "i4")
    arrays = (x, weight, y, means, best, m, n)
    normalize[-(-m // rows)](*arrays, ROWS=rows, COLUMNS=columns, _backend="cpu")
    wide = x.astype("f8")
    centred = wide - wide.mean(1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(1, keepdims=True)) * weight
    np.testing.assert_allclose(y, scaled + weight[np.arange(m) % 7, None], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(means, wide.mean(1), rtol=1e-5)
    above = np.where(np.maximum(wide, 0).any(1), wide.argmax(1), best)
    np.testing.assert_array_equal(best, above)


def loops_of(kernel: Any, *types: str, **options: int) -> list[For]:
    function = loop_over_rows(relax(kernel.compile(*types, **options).function))
    verify(function, RELAXED)
    return [op for op in walk(function.body) if isinstance(op, For)]


def test_a_program_of_rows_is_a_loop_over_them() -> None:
    types = ("*f32", "*f32", "*f32", "*f32", "*i32", "i32", "i32")
    assert len(loops_of(normalize, *types, ROWS=4, COLUMNS=128)) == 1


def test_rows_that_are_reduced_together_are_not_split() -> None:
    @eas.kernel
    def in_place(x, N, COLUMNS: eas.constexpr):
        r, c = mk.arange(0, 4)[:, None], mk.arange(0, COLUMNS)[None, :]
        v = mk.load(x, r * N + c)
        mk.store(x, (3 - r) * N + c, v / mk.sum(v, axis=1)[:, None])

    @eas.kernel
    def down(x, y, N, COLUMNS: eas.constexpr):
        r, c = mk.arange(0, 4)[:, None], mk.arange(0, COLUMNS)[None, :]
        v = mk.load(x, r * N + c)
        mk.store(y, r * N + c, v / mk.sum(v, axis=0)[None, :])

    assert loops_of(in_place, "*f32", "i32", COLUMNS=64) == []
    assert loops_of(down, "*f32", "*f32", "i32", COLUMNS=64) == []
    x, y = floats(4, 64), np.zeros((4, 64), "f4")
    down[1](x, y, 64, COLUMNS=64, _backend="cpu")
    np.testing.assert_allclose(y, x / x.sum(0), rtol=1e-4)
    before = x.copy()
    in_place[1](x, 64, COLUMNS=64, _backend="cpu")
    np.testing.assert_allclose(x[::-1], before / before.sum(1, keepdims=True), rtol=1e-4)
