"""The lane model: lanes diverge, also with blocks of several dimensions."""

from __future__ import annotations

import numpy as np
import pytest

import eas
from eas import mk
from eas.config import Backend
from tests.backends import BACKENDS
from tests.frontend.running import codes_of


@eas.kernel
def early(x, out, N: eas.constexpr):
    i = mk.arange(0, N)
    out[i] = 1
    if x[i] > 2:
        out[i] = 2
        return
    for k in range(x[i]):
        if k == 1:
            return
        out[i] += 10
    out[i] += 100


def test_return_ends_a_lane() -> None:
    x, out = np.array([5, 0, 1, 2, 9], "i4"), np.zeros(5, "i4")
    early[1](x, out, N=5)
    np.testing.assert_array_equal(out, [2, 101, 111, 11, 2])


@eas.kernel
def table(rows, columns, out, steps):
    r, c = mk.arange(0, 3)[:, None], mk.arange(0, 4)[None, :]
    total = rows[r] - 1
    count = 0
    while total < columns[c]:
        total += rows[r]
        count += 1
        if count > 5:
            break
    else:
        total += 100
    out[r, c] = total
    steps[r, c] = count


def test_rows_and_columns_broadcast_in_one_condition() -> None:
    rows, columns = np.array([1, 3, 5], "i4"), np.array([0, 4, 9, 30], "i4")
    out, steps = np.zeros((3, 4), "i4"), np.zeros((3, 4), "i4")
    table[1](rows, columns, out, steps)
    expected = [[_count(int(a), int(b)) for b in columns] for a in rows]
    np.testing.assert_array_equal(out, [[total for total, _ in row] for row in expected])
    np.testing.assert_array_equal(steps, [[count for _, count in row] for row in expected])


def _count(row: int, column: int) -> tuple[int, int]:
    total, count = row - 1, 0
    while total < column:
        total += row
        count += 1
        if count > 5:
            break
    else:
        total += 100
    return total, count


@eas.kernel
def leave_in_shapes(x, out):
    r, c = mk.arange(0, 4)[:, None], mk.arange(0, 2)[None, :]
    v = r
    if r > 1:
        if x[r, c] > 2:
            out[r, c] = -1
            return
        v = v + 10
    else:
        v = v + 20
    n = (r + 1) % 3
    while n:
        n -= 1
    else:
        if x[r, c] == 0:
            return
    out[r, c] = v + n


def test_lanes_of_a_row_leave_on_their_own() -> None:
    x = np.array([[0, 3], [1, 0], [3, 1], [2, 5]], "i4")
    out = np.zeros((4, 2), "i4")
    leave_in_shapes[1](x, out)
    np.testing.assert_array_equal(out, [[0, 20], [21, 0], [-1, 12], [13, -1]])


@eas.kernel
def scalar_in_lanes(x, out, n, N: eas.constexpr):
    i = mk.arange(0, N)
    k = n
    if x[i] > 0:
        while True:
            k += 1
            if k % x[i] == 0:
                out[i] = k
                return
    else:
        k = n * 2
    out[i] = -k


def test_a_scalar_differs_between_lanes_that_diverge() -> None:
    x, out = np.array([0, 3, 5, -1], "i4"), np.zeros(4, "i4")
    scalar_in_lanes[1](x, out, 7, N=4)
    np.testing.assert_array_equal(out, [-14, 9, 10, -14])


def test_a_scalar_condition_splits_nothing() -> None:
    @eas.kernel
    def kernel(x, out, n, N: eas.constexpr):
        v = x[mk.arange(0, N)]
        if n > 2:
            out[0] = mk.sum(v)
        else:
            out[0] = mk.max(v)

    out = np.zeros(1, "i4")
    sums: list[int] = []
    for n in (1, 3):
        kernel[1](np.array([4, 5, 6, 7], "i4"), out, n, N=4)
        sums.append(int(out[0]))
    assert sums == [7, 22]


def test_a_sum_below_a_condition_of_the_lanes_is_refused() -> None:
    def kernel(x, out):
        v = x[mk.arange(0, 4)]
        if v > 0:
            out[0] = mk.sum(v)

    assert codes_of(kernel, "*i32[:]", "*i32[:]") == ["E0602"]


@eas.kernel
def leave_beside_a_continue(out, stop, around, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    x = i
    if around:
        for v in range(4):
            n = 3
            while n > v:
                n -= 1
                if stop:
                    return
                x = x + 1
                if v == 2:
                    break
            else:
                if x % 3 == 1:
                    continue
                x = x * 2
            x = x - 1
        x = x + 100
    out[i] = x


@pytest.mark.parametrize("stop", [0, 1])
@pytest.mark.parametrize("around", [0, 1])
def test_a_return_out_of_a_loop_whose_else_some_lanes_leave(stop: int, around: int) -> None:
    found, expected = np.zeros((2, 8), np.int32)
    leave_beside_a_continue[1](found, stop, around, BLOCK=8)
    for lane in range(8):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(mk, "arange", lambda start, stop, lane=lane: lane)
            leave_beside_a_continue.fn(expected, stop, around, 8)
    assert found.tolist() == expected.tolist()


@eas.kernel
def leave_at_once(x, out, n, N: eas.constexpr):
    i = mk.arange(0, N)
    p = i
    for _ in range(n):
        if i >= 0:
            out[i] = x[p]
            return
        p = p + 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_loop_that_all_lanes_leave_in_the_first_trip(backend: Backend) -> None:
    x, out = np.arange(8, dtype="i4"), np.zeros(8, "i4")
    leave_at_once[1](x, out, 3, N=8, _backend=backend)
    np.testing.assert_array_equal(out, x)


@eas.kernel
def chosen_bools(x, out, n, N: eas.constexpr):
    u = x[mk.arange(0, N)]
    m = u > 3
    if n > 2:
        m = mk.where(u > 5, m, u > 1)
    if u < 7:
        m = mk.where(m, u != 4, False)
    out[mk.arange(0, N)] = m


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_choice_between_bools_is_a_bool(backend: Backend) -> None:
    x, out = np.arange(10, dtype="i4"), np.zeros(10, np.bool_)
    chosen_bools[1](x, out, 3, N=10, _backend=backend)
    chosen = np.where(x > 5, x > 3, x > 1)
    np.testing.assert_array_equal(out, np.where(x < 7, chosen & (x != 4), chosen))
