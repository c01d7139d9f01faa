"""Lanes that access what other lanes write: they run in lockstep, one op after the other."""

from __future__ import annotations

import numpy as np
import pytest

import eas
from eas import mk

LANES = 256  # several times the lanes of an unrolled loop


@eas.kernel
def shared_places(x, N: eas.constexpr):
    place = mk.arange(0, N) % 4
    mk.store(x, place, mk.load(x, place) + 1)


@eas.kernel
def shared_places_in_branch(x, N: eas.constexpr):
    place = mk.arange(0, N) % 4
    if mk.arange(0, N) > 2:
        mk.store(x, place, mk.load(x, place) + 1)


@eas.kernel
def shared_rows(x, N: eas.constexpr):
    place = mk.broadcast_to(mk.arange(0, 4)[None, :], (N, 4))
    mk.store(x, place, mk.load(x, place) + 1)


@pytest.mark.parametrize("kernel", [shared_places, shared_places_in_branch, shared_rows])
def test_lanes_that_share_an_element_all_read_it_before_one_writes(kernel: eas.Kernel) -> None:
    x = np.arange(4, dtype="i4")
    kernel[1](x, N=LANES, _backend="cpu")
    np.testing.assert_array_equal(x, np.arange(4) + 1)


@eas.kernel
def from_the_left(x, N: eas.constexpr):
    i = mk.arange(0, N)
    if i > 0:
        mk.store(x, i, mk.load(x, i - 1))


def test_lanes_read_their_neighbours_before_these_write() -> None:
    x = np.arange(LANES, dtype="i4")
    from_the_left[1](x, N=LANES, _backend="cpu")
    np.testing.assert_array_equal(x, np.maximum(np.arange(LANES) - 1, 0))


@eas.kernel
def from_the_left_again(x, trips, N: eas.constexpr):
    i, k = mk.arange(0, N), 0
    while k < mk.load(trips, i):
        mk.store(x, i, mk.load(x, mk.maximum(i - 1, 0)) + 1)
        k += 1


def test_lanes_of_a_loop_make_each_trip_in_lockstep() -> None:
    trips, x = np.random.default_rng(0).integers(0, 3, (2, LANES)).astype("i4")
    expected = x.copy()
    for trip in range(3):
        left = np.concatenate((expected[:1], expected[:-1]))
        expected = np.where(trip < trips, left + 1, expected)
    from_the_left_again[1](x, trips, N=LANES, _backend="cpu")
    np.testing.assert_array_equal(x, expected)


@eas.kernel
def exchange(x, y, out, n, N: eas.constexpr):
    i = mk.arange(0, N)
    old = mk.load(x, i, i < n)
    mk.store(x, i, mk.load(y, i), i < n)
    mk.store(out, i, mk.where(i < n, old, 100))


@eas.kernel
def exchange_in_branch(x, y, out, n, N: eas.constexpr):
    i = mk.arange(0, N)
    old = 100
    if i < n:
        old = mk.load(x, i)
        mk.store(x, i, mk.load(y, i))
    mk.store(out, i, old)


@pytest.mark.parametrize("kernel", [exchange, exchange_in_branch])
def test_what_was_read_does_not_change_when_the_array_does(kernel: eas.Kernel) -> None:
    x, y, out = (np.arange(LANES, dtype="i4") + 1000 * n for n in range(3))
    kernel[1](x, y, out, 100, N=LANES, _backend="cpu")
    is_below = np.arange(LANES) < 100
    np.testing.assert_array_equal(out, np.where(is_below, np.arange(LANES), 100))
    np.testing.assert_array_equal(x, np.where(is_below, y, np.arange(LANES)))


@eas.kernel
def mirrored_windows(x, y, STEP: eas.constexpr, N: eas.constexpr):
    i = mk.arange(0, N)
    v = mk.load(x, i)
    if v > 0:
        for k in range(2):
            mk.store(x, k * STEP + i, v)
            v += mk.load(x, k * STEP + N - 1 - i)
        mk.store(y, i, v)


def test_lanes_read_in_a_trip_what_others_write_in_it() -> None:
    x = np.where(np.arange(4 * LANES) % 3, np.arange(4 * LANES), -1).astype("i4")
    expected, v = x.copy(), x[:LANES].copy()
    for window in (slice(0, LANES), slice(3 * LANES, None)):
        expected[window] = np.where(x[:LANES] > 0, v, expected[window])
        v += expected[window][::-1]
    y = np.zeros(LANES, "i4")
    is_active = x[:LANES] > 0
    mirrored_windows[1](x, y, STEP=3 * LANES, N=LANES, _backend="cpu")
    np.testing.assert_array_equal(x, expected)
    np.testing.assert_array_equal(y, np.where(is_active, v, 0))


@eas.kernel
def windows_of_two_loops(x, N: eas.constexpr):
    i = mk.arange(0, N)
    v = mk.load(x, i)
    if v > 0:
        for k in range(2):
            for j in range(2):
                w = mk.load(x, j * 4 * N + k * N + 2 * N - 1 - i)
                mk.store(x, j * 4 * N + k * N + i, v)
                v += w


def test_lanes_read_what_others_write_in_a_later_trip_of_the_outer_loop() -> None:
    x = np.where(np.arange(8 * LANES) % 3, np.arange(8 * LANES), -1).astype("i4")
    expected, v = x.copy(), x[:LANES].copy()
    for k, j in np.ndindex(2, 2):
        start = (j * 4 + k) * LANES
        w = expected[start + LANES : start + 2 * LANES][::-1].copy()
        own = expected[start : start + LANES]
        own[:] = np.where(x[:LANES] > 0, v, own)
        v += w
    windows_of_two_loops[1](x, N=LANES, _backend="cpu")
    np.testing.assert_array_equal(x, expected)


@eas.kernel
def bytes_as_places(x, y, N: eas.constexpr):
    i = mk.arange(0, N)
    place = i.to(mk.u8)
    mk.store(x, place, i, i >= 256)
    mk.store(y, i, mk.load(x, place))


def test_lanes_whose_places_are_the_same_byte_share_an_element() -> None:
    x, y = np.zeros(256, "i4"), np.zeros(512, "i4")
    bytes_as_places[1](x, y, N=512, _backend="cpu")
    np.testing.assert_array_equal(y, np.arange(512) % 256 + 256)


@eas.kernel
def moved_stores(x, distance, N: eas.constexpr):
    i = mk.arange(0, N)
    if i > 2:
        mk.store(x, i, 1)
        mk.store(x, i + distance, 2)


def test_all_lanes_write_before_one_writes_at_a_distance_that_only_the_caller_knows() -> None:
    x = np.zeros(LANES + 1, "i4")
    moved_stores[1](x, 1, N=LANES, _backend="cpu")
    np.testing.assert_array_equal(x, [0, 0, 0, 1, *[2] * (LANES - 3)])
