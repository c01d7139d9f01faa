"""What the checks of the CPU report, beside the interpreter."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import eas
from eas import mk
from tests.planted.case import Planted
from tests.planted.divergence import below_an_assert_and_a_print, lanes_that_leave_a_loop_one_by_one
from tests.planted.masks import less_or_equal_at_a_load, mask_of_rows_for_columns
from tests.planted.threads import loop_in_steps_of_the_threads, one_result_of_each_simdgroup


@eas.kernel
def one_place(x, wanted):
    i = mk.arange(0, 40)
    mk.store(x, 8, 1.0, mask=mk.load(wanted, i))


def reports_of(launch: Callable[[str], object]) -> list[str]:
    """What the interpreter and the CPU report."""
    reports: list[str] = []
    for backend in ("interpret", "cpu"):
        with pytest.raises(eas.KernelError) as caught:
            launch(backend)
        reports.append(str(caught.value))
    return reports


def test_the_lane_of_a_report_is_one_that_takes_part() -> None:
    wanted = np.arange(40) == 37
    interpreted, found = reports_of(
        lambda backend: one_place[1](np.zeros(8, "f4"), wanted, _backend=backend)
    )
    assert found == interpreted
    assert "program 0 of a grid of 1, lane 37" in found


@eas.kernel
def behind_a_tile(x):
    t = mk.tid(0, 32)
    tile = mk.alloc_tg((4, 8), mk.f32)
    mk.store(tile, t + 1, x[t])


def test_an_offset_into_threadgroup_memory_is_reported_with_the_number_of_elements() -> None:
    interpreted, found = reports_of(
        lambda backend: behind_a_tile[1](np.ones(32, "f4"), _backend=backend)
    )
    assert found == interpreted
    assert "note: `tile` has 32 elements: offsets 0 to 31 are inside" in found


CASES = (
    below_an_assert_and_a_print,
    lanes_that_leave_a_loop_one_by_one,
    less_or_equal_at_a_load,
    mask_of_rows_for_columns,
    loop_in_steps_of_the_threads,
    one_result_of_each_simdgroup,
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kernel.name)
def test_a_report_is_that_of_the_interpreter_word_by_word(case: Planted) -> None:
    interpreted, found = reports_of(lambda backend: case.launch(case.bug, backend))
    assert found == interpreted


@eas.kernel
def in_lockstep(x, index, N):
    i = mk.arange(0, 13)
    trip = 0
    while trip < 1 + i % 5:
        trip += 1
        if i < N:
            x[i * i // 2 + index[i]] = 1


@pytest.mark.parametrize("extent", [0, 1, 8])
def test_lanes_that_are_idle_in_lockstep_have_no_index(extent: int) -> None:
    x, index = np.zeros(extent, "i4"), np.full(13, 1 - extent, "i4")
    in_lockstep[1](x, index, min(extent, 1), _backend="cpu")
    np.testing.assert_array_equal(x, np.arange(extent) == 1 % max(extent, 1))


@eas.kernel
def column_in_lockstep(x, N):
    r, c = mk.arange(0, 3)[:, None], mk.arange(0, 13)[None, :]
    far = (r * 13 + c) * 0 + 1
    for _ in range(N):
        far += N
        trip = 0
        while trip < 1 + r * 2 % 5:
            trip += 1
            x[0, mk.maximum(r * -3, mk.where(far > 5, 5, far + 3))] = 1


def test_an_index_of_lanes_in_lockstep_is_found_in_the_next_row() -> None:
    interpreted, found = reports_of(
        lambda backend: column_in_lockstep[1](np.zeros((2, 5), "i4"), 3, _backend=backend)
    )
    assert found == interpreted
    assert "`x` has no index 7 along axis 1" in found
