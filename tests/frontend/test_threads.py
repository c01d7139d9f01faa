"""Kernels for threads: what stands there is done by each of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk


@eas.kernel
def count_threads(out):
    t = mk.tid(0, 64)
    mk.atomic_add(out, 0, 1)
    if t < 10:
        mk.atomic_add(out, 1, 1)
    for k in range(3):
        mk.atomic_add(out, 2, k)


@eas.kernel
def count_before_tid(out):
    mk.atomic_add(out, 0, 1)
    t = mk.tid(0, 64)
    out[t + 1] = t


@eas.kernel
def take_tickets(counter, seen):
    t = mk.tid(0, 64)
    ticket = mk.atomic_add(counter, 0, 1)
    seen[ticket] = t - t + 1


@eas.kernel
def read_own_store(out):
    t = mk.tid(0, 64)
    out[0] = 5
    out[t + 1] = out[0] + t


BACKENDS = ("interpret", "cpu", "msl-host")


def after(kernel: Any, backend: str, *sizes: int) -> list[list[int]]:
    arrays = [np.zeros(size, np.int32) for size in sizes]
    kernel[1](*arrays, _backend=backend)
    return [array.tolist() for array in arrays]


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_atomic_is_done_by_every_thread_that_gets_there(backend: str) -> None:
    assert after(count_threads, backend, 3) == [[64, 10, 192]]


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_atomic_before_the_first_tid_is_done_by_every_thread(backend: str) -> None:
    assert after(count_before_tid, backend, 65) == [[64, *range(64)]]


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_thread_gets_a_result_of_its_own_from_an_atomic(backend: str) -> None:
    assert after(take_tickets, backend, 1, 64) == [[64], [1] * 64]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_thread_reads_what_it_has_stored_itself(backend: str) -> None:
    assert after(read_own_store, backend, 65) == [[5, *range(5, 69)]]
