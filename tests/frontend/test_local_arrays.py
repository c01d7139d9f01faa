"""Arrays of each lane: the same as lists of CPython's, on every backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import eas
from eas import mk
from eas.config import Backend
from tests.backends import BACKENDS

Array = np.ndarray[Any, np.dtype[Any]]
LANES = 16
on_every_backend = pytest.mark.parametrize("backend", BACKENDS)


def local(size: int, dtype: object = None) -> list[int]:
    return [0] * size


def expected(function: Callable[..., Any], lanes: int) -> Array:
    """What CPython computes, lane by lane, with a list for each array."""
    with patch.object(mk, "local", local):
        return np.array([function(lane) for lane in range(lanes)], "i4")


def check(function: Callable[..., Any], backend: Backend) -> None:
    """A function of the lane gives the same for a block of lanes, and for a program."""

    @eas.kernel
    def by_lane(out):
        i = mk.arange(0, LANES)
        mk.store(out, i, function(i))

    @eas.kernel
    def by_program(out):
        i = mk.program_id(0)
        mk.store(out, i, function(i))

    for kernel, grid in ((by_lane, 1), (by_program, LANES)):
        out = np.full(LANES, -1, "i4")
        kernel[grid](out, _backend=backend)
        np.testing.assert_array_equal(out, expected(function, LANES))


@on_every_backend
def test_elements_are_zero_at_first(backend: Backend) -> None:
    def run(i):
        a = mk.local(3, mk.i32)
        return a[0] + a[1] + a[2] + i

    check(run, backend)


@on_every_backend
def test_an_index_of_each_lane_chooses_the_element(backend: Backend) -> None:
    def run(i):
        a = mk.local(4, mk.i32)
        a[i % 4] = i + 1
        a[1] += 100
        return a[0] + 2 * a[1] + 3 * a[i % 3]

    check(run, backend)


@on_every_backend
def test_an_index_below_zero_counts_from_the_end(backend: Backend) -> None:
    def run(i):
        a = mk.local(4, mk.i32)
        a[-1] = 7
        a[-(i % 4) - 1] += i
        return a[3] * 1000 + a[0]

    check(run, backend)


@on_every_backend
def test_a_store_in_a_branch_changes_its_lanes_only(backend: Backend) -> None:
    def run(i):
        a = mk.local(2, mk.i32)
        if i % 3 == 1:
            a[0] = i
        elif i > 9:
            a[1] = 2 * i
        return a[0] * 100 + a[1]

    check(run, backend)


@on_every_backend
def test_stores_in_loops_go_on_from_trip_to_trip(backend: Backend) -> None:
    def run(i):
        a = mk.local(4, mk.i32)
        n = 0
        while n < i:
            a[n % 4] += n
            if a[n % 4] > 12:
                break
            n += 1
        for j in range(3):
            a[j + 1] += a[j]
        return a[3]

    check(run, backend)


@on_every_backend
def test_a_helper_changes_the_array_that_it_gets(backend: Backend) -> None:
    def push(a, value):
        if value < 0:
            return 0
        for j in range(len(a)):
            if value > a[j]:
                a[j], value = value, a[j]
        return value

    def run(i):
        best = mk.local(3, mk.i32)
        dropped = 0
        for n in range(i):
            dropped += push(best, n * 7 % 11 - 1)
        return best[0] * 10000 + best[1] * 100 + best[2] + dropped

    check(run, backend)


@on_every_backend
def test_a_helper_returns_an_array_that_it_makes(backend: Backend) -> None:
    def powers(i):
        a = mk.local(3, mk.i32)
        a[0] = 1
        for j in range(2):
            a[j + 1] = a[j] * i
        return a

    def run(i):
        p = powers(i)
        p[0] += 5
        return p[0] + p[1] + p[2]

    check(run, backend)


@on_every_backend
def test_an_array_in_an_unrolled_loop_is_that_of_all_trips(backend: Backend) -> None:
    def run(i):
        a = mk.local(3, mk.i32)
        for factor in (2, 3, 5):
            if i % factor == 0:
                a[factor % 3] += factor
        return a[0] + 10 * a[1] + 100 * a[2]

    check(run, backend)


@on_every_backend
def test_an_index_outside_is_reported_with_its_place(backend: Backend) -> None:
    @eas.kernel
    def bad(out, shift):
        i = mk.arange(0, 8)
        a = mk.local(4, mk.i32)
        a[i + shift] = i
        mk.store(out, i, a[0])

    out = np.zeros(8, "i4")
    with pytest.raises(eas.KernelError, match=r"`a` has no index 4 along axis 0") as error:
        bad[1](out, 0, _backend=backend, _checked=True)
    assert error.value.diagnostics[0].code == "R0104"


def test_the_cpu_reports_an_index_outside_of_a_scalar_array_by_default() -> None:
    @eas.kernel
    def bad(x, out):
        a = mk.local(4, mk.i32)
        a[x[0]] = 1
        out[0] = a[0]

    with pytest.raises(eas.KernelError, match="`a` has no index 9 along axis 0"):
        bad[1](np.array([9], "i4"), np.zeros(1, "i4"), _backend="cpu")


@pytest.mark.parametrize("dtype", ["bool", "i8", "u16", "i64", "f16", "bf16", "f32"])
@on_every_backend
def test_an_array_holds_every_dtype(backend: Backend, dtype: str) -> None:
    @eas.kernel
    def kernel(out, DTYPE: eas.constexpr):
        i = mk.arange(0, 8)
        a = mk.local(2, DTYPE)
        a[i % 2] = i > 3 if DTYPE == mk.bool else i
        mk.store(out, i, a[1].to(mk.i32))

    out = np.zeros(8, "i4")
    kernel[1](out, getattr(mk, dtype), _backend=backend)
    wanted = [0, 0, 0, 0, 0, 1, 0, 1] if dtype == "bool" else [0, 1, 0, 3, 0, 5, 0, 7]
    assert out.tolist() == wanted
