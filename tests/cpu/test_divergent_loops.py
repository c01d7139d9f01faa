"""Divergent loops on the CPU: the results of lanes that leave in different trips."""

from __future__ import annotations

import platform
import re

import numpy as np
import pytest

import eas
from eas import mk


@eas.kernel
def until_limit(x, trips, LIMIT: eas.constexpr, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    v, n = mk.load(x, i), 7
    while v > 0 and n < LIMIT:
        v -= 1
        n += 3
    mk.store(trips, i, n)


def test_a_lane_leaves_with_the_current_value_of_a_uniform_counter() -> None:
    x, trips = np.arange(-3, 97, dtype=np.int32), np.zeros(100, np.int32)
    until_limit[1](x, trips, LIMIT=100, BLOCK=100, _backend="cpu")
    np.testing.assert_array_equal(trips, np.minimum(7 + 3 * x.clip(0), 100))


@eas.kernel
def ends_stored(x, out, left, LIMIT: eas.constexpr, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    v, n = mk.load(x, i), 0
    while v > 0 and n < LIMIT:
        v -= 1
        n += 1
        if v == 5:
            break
    else:
        mk.store(out, i, n)
    mk.store(left, i, v)


def test_only_lanes_that_exhaust_a_loop_run_its_else() -> None:
    x, out, left = np.arange(-10, 90, dtype=np.int32), np.full(100, -1, "i4"), np.zeros(100, "i4")
    ends_stored[1](x, out, left, LIMIT=50, BLOCK=100, _backend="cpu")
    is_out = (x > 5) & (x <= 55)
    np.testing.assert_array_equal(out, np.where(is_out, -1, np.clip(x, 0, 50)))
    rest = np.where(x > 55, x - 50, np.minimum(x, 0))
    np.testing.assert_array_equal(left, np.where(is_out, 5, rest))


@eas.kernel
def by_rows(x, out, ROWS: eas.constexpr, COLS: eas.constexpr):
    i, j = mk.arange(0, ROWS)[:, None], mk.arange(0, COLS)[None, :]
    n = mk.zeros((ROWS, COLS), mk.i32)
    while (n < mk.load(x, i)) & (n < j):
        n += 1
    mk.store(out, i * COLS + j, n)


def test_a_condition_of_rows_ends_the_loop_of_its_row_only() -> None:
    x, out = np.array([3, 0, 9, 4, 40, 1, 2, 8], np.int32), np.zeros((8, 40), np.int32)
    by_rows[1](x, out, ROWS=8, COLS=40, _backend="cpu")
    np.testing.assert_array_equal(out, np.minimum(x[:, None], np.arange(40)[None, :]))


@eas.kernel
def escapes(out, W, LIMIT: eas.constexpr, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    cx, cy = -2.0 + 2.5 * (i % W) / W, -1.25 + 2.5 * (i // W) / W
    x, y, n = mk.zeros_like(cx), mk.zeros_like(cx), mk.zeros((BLOCK,), mk.i32)
    for _ in range(LIMIT):
        if x * x + y * y >= 4.0:
            break
        x, y = x * x - y * y + cx, 2.0 * x * y + cy
        n += 1
    mk.store(out, i, n, i < W * W)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="it reads the instructions of x86-64")
def test_no_vector_is_spilled_across_two_lines_of_the_cache() -> None:
    text = escapes.to_asm("*i32", "i32", LIMIT=200, BLOCK=1024)
    spilled = re.findall(r"\tv?mov(\S+)\t%[xyz]mm\d+, -?\d*\(%r[sb]p\)", text)
    assert spilled
    assert not [how for how in spilled if how.startswith(("up", "dqu"))]
