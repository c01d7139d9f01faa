"""In-bounds guards from both sides: interior and peeled lanes, for blocks of many sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.kernel import Kernel

SIZES = [1, 3, 17, 100, 257, 1000]


@eas.kernel
def shift(x, y, BY, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    source = i + BY
    v = mk.load(x, source, (source >= 0) & (source < N), other=-1.0)
    mk.store(y, i, v, i < N)


@eas.kernel
def shift_in_i64(x, y, BY, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    source = i.to(mk.i64) + BY
    v = mk.load(x, source, (source >= 0) & (source < N), other=-1.0)
    mk.store(y, i, v, i < N)


@pytest.mark.parametrize("kernel", [shift, shift_in_i64])
@pytest.mark.parametrize("block", [1, 5, 64, 1000])
@pytest.mark.parametrize("by", [-300, -70, -2, 0, 3, 90])
def test_lanes_before_and_behind_an_array_read_the_other_value(
    kernel: Kernel, by: int, block: int
) -> None:
    for n in SIZES:
        x = np.arange(n, dtype="f4")
        y = np.zeros(n, "f4")
        kernel(x, y, by, n, BLOCK=block, _backend="cpu")
        source = np.arange(n) + by
        inside = (source >= 0) & (source < n)
        np.testing.assert_array_equal(y, np.where(inside, source, -1))


@eas.kernel
def frame(x, y, H, W, EDGE, ROWS: eas.constexpr, COLUMNS: eas.constexpr):
    r = mk.program_id(0) * ROWS + mk.arange(0, ROWS)[:, None]
    c = mk.program_id(1) * COLUMNS + mk.arange(0, COLUMNS)[None, :]
    inside = (r >= EDGE) & (c >= EDGE) & (r < H - EDGE) & (c < W - EDGE)
    mk.store(y, r * W + c, mk.load(x, r * W + c, inside), (r < H) & (c < W))


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 5), (4, 64), (16, 100)])
@pytest.mark.parametrize("edge", [0, 1, 2, 9, 70])
def test_guards_along_both_axes_hold_together(edge: int, rows: int, columns: int) -> None:
    h, w = 19, 130
    x = np.random.default_rng(0).random((h, w), "f4") + 1
    y = np.zeros((h, w), "f4")
    grid = (-(-h // rows), -(-w // columns))
    frame[grid](x, y, h, w, edge, ROWS=rows, COLUMNS=columns, _backend="cpu")
    expected = np.zeros((h, w), "f4")
    if edge < 10:
        within = slice(edge, h - edge), slice(edge, w - edge)
        expected[within] = x[within]
    np.testing.assert_array_equal(y, expected)


@eas.kernel
def read_up_to_the_end(x, y, START, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    index = START + i
    mk.store(y, i, mk.load(x, i, index >= 0, other=-1.0))


@eas.kernel
def read_up_to_the_end_in_i64(x, y, START, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    index = (START + i).to(mk.i64)
    mk.store(y, i, mk.load(x, i, index >= 0, other=-1.0))


@pytest.mark.parametrize("kernel", [read_up_to_the_end, read_up_to_the_end_in_i64])
def test_an_index_that_wraps_is_below_its_bound_again(kernel: Kernel) -> None:
    x, y = np.arange(100, dtype="f4"), np.zeros(100, "f4")
    kernel[1](x, y, 2**31 - 50, BLOCK=100, _backend="cpu")
    np.testing.assert_array_equal(y, np.where(x < 50, x, -1))


@eas.kernel
def around(x, y, BACK, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    if i < y.shape[0]:
        y[i] = x[i - BACK]


@pytest.mark.parametrize("block", [1, 5, 64, 1000])
@pytest.mark.parametrize("back", [-1, 0, 1, 20, 99])
def test_an_index_below_zero_counts_from_the_end_in_these_lanes_only(back: int, block: int) -> None:
    x, y = np.arange(100, dtype="f4"), np.zeros(99, "f4")
    around[-(-99 // block)](x, y, back, BLOCK=block, _backend="cpu")
    np.testing.assert_array_equal(y, (np.arange(99) - back) % 100)


@eas.kernel
def held(x, y, LOW, HIGH, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(x, mk.clamp(i - 7, LOW, HIGH)) + mk.load(x, mk.minimum(i, HIGH))
    mk.store(y, i, v + mk.load(x, mk.maximum(i, LOW), i < N), i < N)


@pytest.mark.parametrize(("low", "high"), [(0, 99), (3, 90), (50, 52), (98, 99)])
def test_clamped_indices_read_the_elements_at_the_bounds(low: int, high: int) -> None:
    x, y, i = np.arange(100, dtype="f4"), np.zeros(100, "f4"), np.arange(100)
    held(x, y, low, high, 100, BLOCK=64, _backend="cpu")
    expected = np.clip(i - 7, low, high) + np.minimum(i, high) + np.maximum(i, low)
    np.testing.assert_array_equal(y, expected)


@eas.kernel
def triangle(x, y, N, BLOCK: eas.constexpr):
    row = mk.program_id(0)
    c = mk.arange(0, BLOCK)
    if c < N:
        if c >= row:
            y[row, c] = x[row, c]
        else:
            y[row, c] = -x[c, row]


def test_both_branches_run_where_a_row_crosses_the_bound() -> None:
    x, y = np.random.default_rng(0).random((70, 70), "f4"), np.zeros((70, 70), "f4")
    triangle[70](x, y, 70, BLOCK=128, _backend="cpu")
    np.testing.assert_array_equal(y, np.where(np.tri(70, k=-1, dtype=bool), -x.T, x))


@eas.kernel
def square(x, y, N, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    inside = i < N
    both = inside[:, None] & inside[None, :]
    mk.store(y, i[:, None] * N + i[None, :], mk.load(x, i, inside)[:, None], both)


@pytest.mark.parametrize("n", [1, 15, 33, 64])
def test_one_comparison_bounds_rows_and_columns(n: int) -> None:
    x, y = np.arange(n, dtype="f4"), np.zeros((n + 1, n), "f4")
    square[1](x, y, n, BLOCK=64, _backend="cpu")
    np.testing.assert_array_equal(y[:n], np.repeat(x[:, None], n, axis=1))
    np.testing.assert_array_equal(y[n], 0)


@eas.kernel
def blur(x, y, H, W, R, ROWS: eas.constexpr, COLUMNS: eas.constexpr):
    r = mk.program_id(0) * ROWS + mk.arange(0, ROWS)[:, None]
    c = mk.program_id(1) * COLUMNS + mk.arange(0, COLUMNS)[None, :]
    total = mk.zeros((ROWS, COLUMNS))
    for dr in range(-R, R + 1):
        for dc in range(-R, R + 1):
            rr, cc = r + dr, c + dc
            total += mk.load(x, rr * W + cc, (rr >= 0) & (rr < H) & (cc >= 0) & (cc < W))
    mk.store(y, r * W + c, total, (r < H) & (c < W))


@eas.kernel
def blur_by_threads(x, y, R, THREADS: eas.constexpr):
    r, c = mk.program_id(0), mk.program_id(1) * THREADS + mk.tid(0, THREADS)
    if c < x.shape[1]:
        total = 0.0
        for dr in range(-R, R + 1):
            for dc in range(-R, R + 1):
                if 0 <= r + dr < x.shape[0] and 0 <= c + dc < x.shape[1]:
                    total += x[r + dr, c + dc]
        y[r, c] = total


def sums_around(x: np.ndarray[Any, Any], radius: int) -> np.ndarray[Any, Any]:
    padded, size = np.pad(x, radius), 2 * radius + 1
    return np.lib.stride_tricks.sliding_window_view(padded, (size, size)).sum((2, 3))


@pytest.mark.parametrize("radius", [0, 1, 3])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 5), (16, 16), (4, 100)])
def test_trips_at_the_edge_of_an_array_read_what_is_there(
    radius: int, rows: int, columns: int
) -> None:
    x = np.random.default_rng(0).random((37, 130), "f4")
    y, z = np.zeros_like(x), np.zeros_like(x)
    grid = (-(-37 // rows), -(-130 // columns))
    blur[grid](x, y, 37, 130, radius, ROWS=rows, COLUMNS=columns, _backend="cpu")
    blur_by_threads[37, -(-130 // columns)](x, z, radius, THREADS=columns, _backend="cpu")
    np.testing.assert_allclose(y, sums_around(x, radius), rtol=1e-5)
    np.testing.assert_allclose(z, sums_around(x, radius), rtol=1e-5)


@eas.kernel
def sum_after(x, y, FIRST, LAST, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    total = mk.zeros((BLOCK,))
    for by in range(FIRST, LAST):
        total += mk.load(x, (i + by) & 127, i + by >= 0, other=-1.0)
    mk.store(y, i, total)


def test_an_index_that_wraps_in_a_trip_is_below_its_bound_again() -> None:
    x, y, first = np.arange(128, dtype="f4"), np.zeros(64, "f4"), 2**31 - 40
    sum_after[1](x, y, first, first + 9, BLOCK=64, _backend="cpu")
    by = np.arange(first, first + 9)[:, None] + np.arange(64)
    np.testing.assert_array_equal(y, np.where(by < 2**31, by & 127, -1).sum(0))


@eas.kernel
def one_for_some(x, wanted, y, AT, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    y[i] = mk.load(x, AT, mask=mk.load(wanted, i))


@pytest.mark.parametrize("block", [1, 13, 64])
def test_one_element_for_all_lanes_is_zero_where_the_mask_is_false(block: int) -> None:
    x, y, wanted = np.array([5, 7], "i4"), np.zeros(block, "i4"), np.arange(block) % 3 == 1
    one_for_some[1](x, wanted, y, 1, BLOCK=block, _backend="cpu")
    np.testing.assert_array_equal(y, np.where(wanted, 7, 0))


@eas.kernel
def select_by_one_lane(a, out, first, BLOCK: eas.constexpr):
    i, one = mk.arange(0, BLOCK), mk.arange(0, 1)
    mk.store(out + i, mk.load(a + i, mask=(one >= first) & (i < BLOCK), other=-1.0))


@pytest.mark.parametrize("first", [0, 3])
def test_a_bound_of_one_lane_that_is_broadcast_holds_for_all_lanes_or_none(first: int) -> None:
    a = np.arange(256, dtype="f4")
    out = np.zeros_like(a)
    select_by_one_lane[1](a, out, first, BLOCK=256, _backend="cpu")
    np.testing.assert_array_equal(out, a if first == 0 else np.full_like(a, -1))


@eas.kernel
def mark_beyond_the_lane(out, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    if t > mk.lane_id():
        out[t] = 1


def test_a_bound_that_differs_between_lanes_is_no_guard() -> None:
    out = np.zeros(256, "i4")
    mark_beyond_the_lane[1](out, THREADS=256, _backend="cpu")
    np.testing.assert_array_equal(out, np.arange(256) >= 32)
