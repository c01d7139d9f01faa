"""What the checks of the CPU report, beside the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from tests.planted.case import Planted, guard
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


def test_the_lane_of_a_report_is_an_active_one() -> None:
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


@eas.kernel
def masked_by_another_square(x, N):
    i = mk.arange(0, 64)
    mk.store(x, mk.trans(mk.reshape(i, (8, 8))), 1, mask=mk.reshape(i < N, (8, 8)))


@eas.kernel
def masked_by_another_shape(x, N):
    i = mk.arange(0, 32)
    mk.store(x, mk.trans(mk.reshape(i, (8, 4))), 1, mask=mk.reshape(i < N, (4, 8)))


@eas.kernel
def masked_by_the_other_half(x, N):
    i = mk.arange(0, 32)
    mk.store(x, i[16:], 1, mask=(i < N)[:16])


@pytest.mark.parametrize(
    "kernel",
    [masked_by_another_square, masked_by_another_shape, masked_by_the_other_half],
    ids=lambda kernel: kernel.name,
)
def test_a_mask_says_nothing_of_lanes_that_another_view_sees(kernel: Any) -> None:
    x = guard(np.zeros(16, "i4"))
    interpreted, found = reports_of(lambda backend: kernel[1](x.array, 16, _backend=backend))
    assert found == interpreted
    assert "written out of bounds, at offset 16" in found
    assert x.is_intact()


@eas.kernel
def masked_by_a_wide_constant(x, index):
    mk.store(x, mk.load(index, mk.arange(0, 16)) & 0xFFFFFFFFFFFFFFF0, 1)


@eas.kernel
def above_a_limit(x, index):
    found = mk.load(index, mk.arange(0, 16))
    mk.store(x, found // (1 << 60), 1, mask=found >= 5)


@pytest.mark.parametrize(
    ("kernel", "index", "offset"),
    [(masked_by_a_wide_constant, 170, 160), (above_a_limit, 0xF000000000000000, 15)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_numbers_beyond_i64_are_not_taken_for_small_ones(
    kernel: Any, index: int, offset: int
) -> None:
    x, indices = guard(np.zeros(9, "i4")), np.full(16, index, "u8")
    interpreted, found = reports_of(lambda backend: kernel[1](x.array, indices, _backend=backend))
    assert found == interpreted
    assert f"written out of bounds, at offset {offset}" in found
    assert x.is_intact()


@eas.kernel
def limited_by_a_long_sum(x, N):
    limit = N
    for _ in mk.static_range(20):
        limit = limit + limit // 3 - limit * 2
    i = mk.arange(0, 16)
    mk.store(x, i, 1, mask=(i < N) & (i != limit))
    mk.store(x, i, 2, mask=i < limit)


def test_a_bound_is_computed_once_however_often_it_is_used() -> None:
    """Each trip uses the last bound three times; this must not take exponential time."""
    arrays = [np.zeros(16, "i4") for _ in range(2)]
    for x, backend in zip(arrays, ("interpret", "cpu"), strict=True):
        limited_by_a_long_sum[1](x, 9, _backend=backend)
    np.testing.assert_array_equal(arrays[1], arrays[0])


@eas.kernel
def behind_a_wrap(x, y, N, DTYPE: eas.constexpr):
    i = mk.arange(0, 48)
    mk.store(y, i, mk.load(x, i.to(DTYPE) - N.to(DTYPE), mask=i >= N))


@eas.kernel
def cut_to_a_byte(x, y):
    i = mk.arange(0, 48)
    mk.store(y, i, mk.load(x, (i + 230).to(mk.u8)))


@eas.kernel
def cut_and_widened(x, y, N):
    i = mk.arange(0, 48)
    mk.store(y, i, mk.load(x, (i.to(mk.i16) - N.to(mk.i16)).to(mk.u32), mask=i >= N))


@pytest.mark.parametrize(
    ("kernel", "more", "expected"),
    [
        (behind_a_wrap, (19, mk.u8), np.arange(-19, 29).clip(0)),
        (behind_a_wrap, (19, mk.u32), np.arange(-19, 29).clip(0)),
        (behind_a_wrap, (19, mk.u64), np.arange(-19, 29).clip(0)),
        (cut_to_a_byte, (), np.arange(230, 278) % 256),
        (cut_and_widened, (19,), np.arange(-19, 29).clip(0)),
    ],
)
@pytest.mark.parametrize("is_checked", [False, True])
def test_unsigned_offsets_wrap(
    kernel: Any, more: tuple[object, ...], expected: np.ndarray[Any, Any], is_checked: bool
) -> None:
    x, y = np.arange(600, dtype="i4"), np.zeros(48, "i4")
    kernel[1](x, y, *more, _backend="cpu", _checked=is_checked)
    np.testing.assert_array_equal(y, expected)
