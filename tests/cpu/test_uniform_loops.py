"""Loops whose start differs per thread, with any bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.lowering.uniform_loops import make_loops_uniform
from eas.ir.nodes import For, walk
from eas.ir.passes import relax
from eas.ir.stages import RELAXED
from eas.ir.verify import verify

BOUNDS = [
    (0, 0, 1), (0, 1, 16), (0, 100, 16), (5, 1000, 32), (7, 40, 3), (-20, 35, 4), (90, 3, 8),
    (60, -20, -7), (2**31 - 40, 2**31 - 1, 9), (2**31 - 3, 2**31 - 1, 1),
]  # fmt: skip


@eas.kernel
def visit(visits, last, START, STOP, STEP, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    total, final = 0, -1
    for i in range(START + t, STOP, STEP):
        total += i & 255
        final = i
    visits[t] = total
    last[t] = final


@eas.kernel
def visit_upwards(visits, last, N, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    total, final = 0, -1
    for i in range(mk.program_id(0) + t, N, THREADS):
        total += i & 255
        final = i
    visits[t] = total
    last[t] = final


def expected(start: int, stop: int, step: int, threads: int) -> list[list[int]]:
    trips = [range(start + t, stop, step) for t in range(threads)]
    sums = [sum(i & 255 for i in trip) for trip in trips]
    return [sums, [trip[-1] if trip else -1 for trip in trips]]


@pytest.mark.parametrize("bounds", BOUNDS)
def test_each_thread_makes_its_trips(bounds: tuple[int, int, int]) -> None:
    found = [np.zeros(40, "i4") for _ in range(2)]
    if bounds[0] + 40 < 2**31:
        visit[1](*found, *bounds, THREADS=40, _backend="cpu")
        np.testing.assert_array_equal(found, expected(*bounds, 40))


@pytest.mark.parametrize("n", [0, 1, 39, 40, 41, 1000, 2**31 - 1])
def test_each_thread_makes_its_trips_up_to_the_end(n: int) -> None:
    if n > 1000:
        found = [np.zeros(1024, "i4") for _ in range(2)]
        far[1](*found, n, THREADS=1024, _backend="cpu")
        start = n - n % (1 << 20)
        np.testing.assert_array_equal(found, expected(start, n, 1024, 1024))
        return
    found = [np.zeros(40, "i4") for _ in range(2)]
    visit_upwards[1](*found, n, THREADS=40, _backend="cpu")
    np.testing.assert_array_equal(found, expected(0, n, 40, 40))


@eas.kernel
def far(visits, last, N, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    total, final = 0, -1
    start = mk.maximum(N - N % (1 << 20), 0)
    for i in range(start + t, N, THREADS):
        total += i & 255
        final = i
    visits[t] = total
    last[t] = final


def loops_of(kernel: Any, *types: str) -> list[For]:
    function = make_loops_uniform(relax(kernel.compile(*types, THREADS=64).function))
    verify(function, RELAXED)
    return [op for op in walk(function.body) if isinstance(op, For)]


def test_threads_run_such_a_loop_as_a_uniform_one() -> None:
    [loop] = loops_of(visit_upwards, "*i32", "*i32", "i32")
    assert loop.start.shape == ()


def test_a_loop_whose_bounds_might_wrap_stays_divergent() -> None:
    [loop] = loops_of(visit, "*i32", "*i32", "i32", "i32", "i32")
    assert loop.start.shape == (64,)


def test_a_loop_that_threads_leave_stays_divergent() -> None:
    @eas.kernel
    def search(x, out, N, THREADS: eas.constexpr):
        t = mk.tid(0, THREADS)
        found = -1
        for i in range(t, N, THREADS):
            if x[i] == 0:
                found = i
                break
        out[t] = found

    [loop] = loops_of(search, "*i32", "*i32", "i32")
    assert loop.start.shape == (64,)
