"""Elements of array arguments: indices, strides, extents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.config import Backend
from tests.backends import BACKENDS
from tests.frontend.running import codes_of


@eas.kernel
def gather(a, indices, out, N: eas.constexpr):
    i = mk.arange(0, N)
    out[i] = a[indices[i]]


def test_an_index_below_zero_counts_from_the_end() -> None:
    a, indices = np.arange(10, 15, dtype="i4"), np.array([0, -1, 4, -5, 2], "i4")
    out = np.zeros(5, "i4")
    gather[1](a, indices, out, N=5)
    np.testing.assert_array_equal(out, a[indices])


@pytest.mark.interpreted
@pytest.mark.parametrize("index", [5, -6])
def test_an_index_out_of_bounds_is_reported(index: int) -> None:
    a, indices = np.arange(10, 15, dtype="i4"), np.array([0, index, 1], "i4")
    with pytest.raises(eas.KernelError):
        gather[1](a, indices, np.zeros(3, "i4"), N=3)


@eas.kernel
def transpose(a, out):
    for i in range(a.shape[0]):
        for j in range(-a.shape[1], 0):
            out[j, i] = a[i, j]


@pytest.mark.parametrize(
    "a",
    [
        np.arange(12, dtype="i4").reshape(3, 4),
        np.arange(12, dtype="i4").reshape(4, 3).T,
        np.arange(48, dtype="i4").reshape(6, 8)[::2, ::-2],
    ],
    ids=["rows", "columns", "every other, backwards"],
)
def test_strides_are_followed(a: Any) -> None:
    out = np.zeros((4, 3), "i4")
    transpose[1](a, out)
    np.testing.assert_array_equal(out, a.T)


@eas.kernel
def facts(a, out):
    out[0], out[1], out[2] = a.shape[0], a.shape[1], a.ndim
    out[3], out[4] = a.strides[0], a.strides[1]
    out[5] = 1 if a.dtype == mk.f16 else 0


def test_an_array_knows_its_shape() -> None:
    out = np.zeros(6, "i4")
    facts[1](np.zeros((5, 7), "f2"), out)
    np.testing.assert_array_equal(out, [5, 7, 2, 7, 1, 1])


@eas.kernel
def histogram(a, out):
    for i in range(a.shape[0]):
        out[a[i] % out.shape[0]] += 1


def test_an_element_is_changed_in_place() -> None:
    a = np.array([0, 1, 1, 7, -1, 4, 4, 4], "i4")
    out = np.zeros(5, "i4")
    histogram[1](a, out)
    np.testing.assert_array_equal(out, np.bincount(a % 5, minlength=5))


@eas.kernel
def exchange(a):
    i = mk.program_id(0)
    a[i, 0], a[i, -1] = a[i, -1], a[i, 0]


def test_elements_are_exchanged() -> None:
    a = np.arange(12, dtype="i4").reshape(4, 3)
    expected = a[:, ::-1].copy()
    exchange[4](a)
    np.testing.assert_array_equal(a, expected)


def test_a_wrong_number_of_indices_is_refused() -> None:
    def kernel(a):
        a[0] = a[0, 1, 2]

    assert set(codes_of(kernel, "*i32[:, :]")) == {"E0502"}


def test_a_float_index_is_refused() -> None:
    def kernel(a, x):
        a[x] = 1

    assert codes_of(kernel, "*i32[:]", "f32") == ["E0501"]


def test_a_float_is_not_cut_down_to_an_int_silently() -> None:
    def kernel(a, x):
        a[0] = x

    assert codes_of(kernel, "*i32[:]", "f32") == ["E0510"]


@pytest.mark.parametrize("atomic", [mk.atomic_and, mk.atomic_or, mk.atomic_xor])
def test_bits_of_floats_are_not_changed_by_atomics(atomic: Any) -> None:
    def kernel(out):
        atomic(out, 0, 1.0)

    assert codes_of(kernel, "*f32[:]") == ["E0301"]


@pytest.mark.parametrize("atomic", [mk.atomic_add, mk.atomic_or, mk.atomic_xchg])
def test_bools_are_not_changed_by_atomics(atomic: Any) -> None:
    def kernel(out):
        atomic(out, 0, True)

    assert codes_of(kernel, "*bool[:]") == ["E0301"]


@eas.kernel
def add_rows(a, out, n, N: eas.constexpr):
    i, k = mk.arange(0, N), 0
    total = mk.zeros((N,), mk.i32)
    while k < n:
        total += mk.load(a, i)
        a += N
        if k % 2:
            out += N
            mk.store(out, i, total)
        k += 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_array_is_a_pointer_that_a_while_loop_moves(backend: Backend) -> None:
    a, out = np.arange(35, dtype="i4").reshape(5, 7), np.zeros((3, 7), "i4")
    add_rows[1](a, out, 5, N=7, _backend=backend)
    np.testing.assert_array_equal(out, [np.zeros(7), a[:2].sum(0), a[:4].sum(0)])
