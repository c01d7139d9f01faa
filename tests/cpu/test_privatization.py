"""Privatized atomic adds: no number is lost on its way through a thread's own table."""

from __future__ import annotations

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.passes import relax
from eas.llvm.analysis.facts import Facts
from eas.llvm.lanes.privatization import privatized_arrays


@eas.kernel
def tally(places, numbers, sums, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.atomic_add(sums, mk.load(places, i, i < N), mk.load(numbers, i, i < N), i < N)


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "f4", "f8"])
@pytest.mark.parametrize("size", [1, 3, 1024, 1025, 7000])
def test_elements_that_share_a_slot_get_all_of_their_numbers(size: int, dtype: str) -> None:
    random = np.random.default_rng(0)
    places = random.integers(0, size, 50_000).astype("i4")
    numbers = random.integers(0, 9, 50_000).astype(dtype)
    sums = np.ones(size, dtype)
    for _ in range(2):
        tally(places, numbers, sums, 50_000, BLOCK=100, _backend="cpu")
    expected = 1 + 2 * np.bincount(places, numbers, size)
    np.testing.assert_array_equal(sums, expected)


@eas.kernel
def total(x, out, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.sum(mk.load(x, i, i < N))
    if v > 10.0:
        mk.atomic_add(out, 0, v)
    else:
        mk.atomic_add(out, 1, 1.0)


def test_a_number_per_program_is_added_where_the_program_says() -> None:
    x, out = np.arange(1000, dtype="f4"), np.zeros(2, "f4")
    total(x, out, 1000, BLOCK=4, _backend="cpu")
    sums = x.reshape(250, 4).sum(1)
    np.testing.assert_array_equal(out, [sums[sums > 10].sum(), (sums <= 10).sum()])


@eas.kernel
def tickets(counts, taken, seen, shared, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(taken, i, mk.atomic_add(counts, i, 1))
    mk.atomic_add(seen, i, 2)
    mk.store(taken, i, mk.load(seen, i))
    mk.atomic_add(shared, i, 3)
    mk.atomic_max(shared, i, 4)


def test_an_array_that_is_also_read_is_not_privatized() -> None:
    function = relax(tickets.compile("*i32", "*i32", "*i32", "*i32", BLOCK=8).function)
    assert privatized_arrays(Facts(function)) == set()
    function = relax(tally.compile("*i32", "*i32", "*i32", "i32", BLOCK=8).function)
    assert privatized_arrays(Facts(function)) == {function.params[2].value.id}
    arrays = [np.zeros(8, "i4") for _ in range(4)]
    tickets[1](*arrays, BLOCK=8, _backend="cpu")
    np.testing.assert_array_equal([array[0] for array in arrays], [1, 2, 2, 4])


def test_elements_before_the_first_one_get_their_numbers() -> None:
    @eas.kernel
    def count(sums, BLOCK: eas.constexpr):
        i = mk.arange(0, BLOCK)
        mk.atomic_add(sums, i * sums.strides[0], i)

    sums = np.zeros(16, "i4")
    count[3](sums[::-1], BLOCK=16, _backend="cpu")
    assert sums[::-1].tolist() == [3 * i for i in range(16)]
