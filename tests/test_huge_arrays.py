"""Arrays whose offsets need 64 bits: indices, block pointers, places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.config import Backend
from eas.kernel import Kernel
from eas.runtime.argument_values import is_wide
from tests.huge import huge

Array = np.ndarray[Any, np.dtype[Any]]

SIDE = 50_000  # of a square with more than 2**31 elements
COUNT = 100
ON_WHOLE_ARRAYS: tuple[Backend, ...] = ("cpu", "interpret")  # `msl-host` would copy them


@eas.kernel
def take(x, y, ROW, COLUMN):
    i = mk.arange(0, 128)
    if i < y.shape[0]:
        y[i] = x[ROW, COLUMN + i]


@eas.kernel
def put(x, y, ROW, COLUMN):
    i = mk.arange(0, 128)
    if i < y.shape[0]:
        x[ROW, COLUMN + i] = y[i]


@eas.kernel
def add_up(x, y, ROW, COLUMN):
    i = mk.arange(0, 128)
    if i < y.shape[0]:
        x[ROW, COLUMN + i] += y[i]


@eas.kernel
def take_tile(x, y, ROWS, COLUMNS, STRIDE, ROW, COLUMN):
    tile = mk.make_block_ptr(x, (ROWS, COLUMNS), (STRIDE, 1), (ROW, COLUMN), (4, 32), (1, 0))
    y_tile = mk.make_block_ptr(y, (4, 32), (32, 1), (0, 0), (4, 32), (1, 0))
    mk.store(y_tile, mk.load(tile, boundary_check=(0, 1)))


@eas.kernel
def take_in_steps(x, y, HALF, START):
    i = mk.arange(0, 128)
    place = x + START
    for _ in range(4):
        place += HALF
    mk.store(y, i, mk.load(place + i, i < COUNT), i < COUNT)


@eas.kernel
def measure(x, y):
    y[0] = x.shape[0] * x.shape[1]
    y[1] = x.strides[0] * (x.shape[0] - 1)


@eas.kernel
def square_of_matrix(x, y, STRIDE, THREADS: eas.constexpr):
    mk.tid(0, THREADS)
    acc = mk.mma(mk.mma_zero(), x, 0, x, 0, STRIDE, STRIDE)
    mk.mma_store(acc, y, 0)


@eas.kernel
def move(x, y, FROM, TO):
    y[TO, TO] = x[FROM, FROM]


@eas.kernel
def last(x, y):
    y[0] = x[-1, -1]


@eas.kernel
def backwards(x, y):
    p = mk.program_id(0)
    x[SIDE - 1 - p, 5] = y[p] + x[SIDE - 1 - p, 5]


@eas.kernel
def collide(x):
    x[SIDE - 1, 11 - mk.program_id(0) // 2] = mk.program_id(0)


@pytest.fixture(scope="module")
def square() -> Array:
    return huge((SIDE, SIDE))


def _numbers(seed: int, count: int = COUNT) -> Array:
    return np.random.default_rng(seed).integers(1, 100, count).astype(np.uint8)


@pytest.mark.parametrize("backend", ON_WHOLE_ARRAYS)
@pytest.mark.parametrize("row", [SIDE - 1, 43_000, -1])
def test_an_index_reaches_rows_beyond_two_to_the_31(
    square: Array, row: int, backend: Backend
) -> None:
    numbers, found = _numbers(row % SIDE), np.zeros(COUNT, np.uint8)
    square[row, 700 : 700 + COUNT] = numbers
    take[1](square, found, row, 700, _backend=backend)
    np.testing.assert_array_equal(found, numbers)


@pytest.mark.parametrize("backend", ON_WHOLE_ARRAYS)
@pytest.mark.parametrize("kernel", [put, add_up])
def test_a_store_reaches_rows_beyond_two_to_the_31(
    square: Array, kernel: Kernel, backend: Backend
) -> None:
    numbers, row = _numbers(7), square[SIDE - 2, 900 : 900 + COUNT]
    row[:] = 0
    kernel[1](square, numbers, SIDE - 2, 900, _backend=backend)
    np.testing.assert_array_equal(row, numbers)


@pytest.mark.parametrize("backend", ON_WHOLE_ARRAYS)
def test_strides_may_be_negative(square: Array, backend: Backend) -> None:
    view = square[::-1, ::-3]
    view[SIDE - 1, 40:140] = _numbers(3)
    found = np.zeros(COUNT, np.uint8)
    take[1](view, found, SIDE - 1, 40, _backend=backend)
    np.testing.assert_array_equal(found, _numbers(3))


@pytest.mark.parametrize("backend", ON_WHOLE_ARRAYS)
def test_a_small_view_may_have_huge_strides(square: Array, backend: Backend) -> None:
    view = square[:: SIDE - 1, :200]
    view[1, 20:120] = _numbers(4)
    found = np.zeros(COUNT, np.uint8)
    take[1](view, found, 1, 20, _backend=backend)
    np.testing.assert_array_equal(found, _numbers(4))


@pytest.mark.parametrize("backend", ON_WHOLE_ARRAYS)
def test_a_block_pointer_reaches_tiles_beyond_two_to_the_31(
    square: Array, backend: Backend
) -> None:
    tile = _numbers(5, 128).reshape(4, 32)
    square[SIDE - 3 :, SIDE - 30 :] = tile[:3, :30]
    found = np.ones((4, 32), np.uint8)
    take_tile[1](square, found, SIDE, SIDE, SIDE, SIDE - 3, SIDE - 30, _backend=backend)
    expected = np.zeros((4, 32), np.uint8)
    expected[:3, :30] = tile[:3, :30]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("backend", ON_WHOLE_ARRAYS)
def test_offsets_of_a_place_add_up_beyond_two_to_the_31(square: Array, backend: Backend) -> None:
    flat, step = square.reshape(-1), 600_000_000
    numbers, found = _numbers(6), np.zeros(128, np.uint8)
    flat[4 * step + 50 :][:COUNT] = numbers
    take_in_steps[1](flat, found, step, 50, _backend=backend)
    np.testing.assert_array_equal(found[:COUNT], numbers)


@pytest.mark.parametrize("backend", ON_WHOLE_ARRAYS)
def test_extents_and_strides_of_a_huge_array_are_i64(square: Array, backend: Backend) -> None:
    found = np.zeros(2, np.int64)
    measure[1](square, found, _backend=backend)
    assert found.tolist() == [SIDE * SIDE, SIDE * (SIDE - 1)]


@pytest.mark.parametrize("backend", ON_WHOLE_ARRAYS)
def test_the_rows_of_a_small_matrix_may_be_far_apart(backend: Backend) -> None:
    stride = 2**29
    x, y = huge((8, stride), "f4"), np.zeros(64, np.float32)
    x[:, :8] = np.arange(64).reshape(8, 8)
    square_of_matrix[1](x.reshape(-1), y, stride, THREADS=32, _backend=backend)
    np.testing.assert_array_equal(y.reshape(8, 8), x[:, :8] @ x[:, :8])


@pytest.mark.parametrize("backend", ON_WHOLE_ARRAYS)
def test_a_huge_array_may_be_passed_twice(square: Array, backend: Backend) -> None:
    for start in (SIDE - 9, SIDE - 8):
        square[start, start], square[-7, -7] = start % 100, 0
        move[1](square, square, start, SIDE - 7, _backend=backend)
        assert square[-7, -7] == start % 100


@pytest.mark.parametrize("backend", ON_WHOLE_ARRAYS)
def test_an_axis_may_be_longer_than_two_to_the_31(backend: Backend) -> None:
    long, found = huge((2, 2**31 + 10)), np.zeros(1, np.uint8)
    long[-1, -1] = 77
    last[1](long, found, _backend=backend)
    assert found.tolist() == [77]


@pytest.mark.parametrize("backend", ON_WHOLE_ARRAYS)
def test_an_element_that_is_repeated_may_fill_an_axis_of_any_length(backend: Backend) -> None:
    repeated = np.broadcast_to(np.array(9, np.uint8), (3, 2**33))
    found = np.zeros(1, np.uint8)
    last[1](repeated, found, _backend=backend)
    assert found.tolist() == [9]


def test_the_interpreter_knows_who_touched_a_few_places_of_a_huge_array(square: Array) -> None:
    square[-COUNT:, 5] = 0
    backwards[COUNT](square, _numbers(9), _backend="interpret")
    np.testing.assert_array_equal(square[: -COUNT - 1 : -1, 5], _numbers(9))
    with pytest.raises(eas.KernelError, match="different values are written to `x`"):
        collide[4](square, _backend="interpret")


@eas.kernel
def fill(x, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(x, i, 1, mask=i < N)


def test_a_grid_whose_indices_would_wrap_is_refused_with_a_suggestion(square: Array) -> None:
    with pytest.raises(eas.LaunchError) as caught:
        fill(square.reshape(-1), square.size, BLOCK=1024, _backend="cpu")
    assert str(caught.value) == (
        "kernel `fill`: its indices are for 2097152 programs along an axis, not 2441407: "
        "compute them in i64, as in `mk.program_id(0).to(mk.i64) * BLOCK`"
    )


def test_launches_of_small_and_huge_arrays_alternate(square: Array) -> None:
    small = np.arange(400, dtype=np.uint8).reshape(2, 200)
    square[SIDE - 1, :COUNT] = _numbers(8)
    found = np.zeros(COUNT, np.uint8)
    for _ in range(3):
        take[1](small, found, 1, 0, _backend="cpu")
        np.testing.assert_array_equal(found, small[1, :COUNT])
        take[1](square, found, SIDE - 1, 0, _backend="cpu")
        np.testing.assert_array_equal(found, _numbers(8))


@pytest.mark.parametrize("is_first", [True, False])
def test_a_plan_is_for_small_or_for_huge_arrays(square: Array, is_first: bool) -> None:
    kernel = eas.kernel(last.fn)
    arrays = [square[:, 1:], np.ones((3, 4), np.uint8)[:, 1:]]
    first, second = arrays if is_first else arrays[::-1]
    found = np.zeros(1, np.uint8)
    kernel[1](first, found, _backend="cpu")
    fast_path: Any = vars(kernel)["_fast_path"]
    assert fast_path.run((None, True), 1, (first, found), {})
    assert not fast_path.run((None, True), 1, (second, found), {})


def test_the_text_for_a_huge_array_computes_its_offsets_in_long() -> None:
    """The text of one that is not is in the snapshots."""
    text = last.to_msl("*u8[:, :] @ i64", "*u8[:]")
    assert text == last.to_msl(huge((SIDE, SIDE)), np.zeros(1, np.uint8))
    assert "constant long& x_stride_0" in text
    assert "constant int& y_extent_0" in text


def test_a_kernel_for_huge_arrays_is_right_for_small_ones() -> None:
    """On `msl-host`, which copies whole arrays."""
    host = pytest.importorskip("eas.msl.host")
    x, y = np.arange(3000, dtype=np.uint8).reshape(30, 100)[::-1, ::2], np.zeros(40, np.uint8)
    compiled = take.compile("*u8[:, :] @ i64", "*u8[:] @ i64", "i32", "i32")
    values: dict[str, Any] = {"x": x, "y": y, "ROW": np.int32(-4), "COLUMN": np.int32(3)}
    host.run(compiled.metal, compiled.function.params, compiled.binding.bind(values), (1,))
    np.testing.assert_array_equal(y, x[-4, 3:43])


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.zeros((), np.uint8), False),
        (np.broadcast_to(np.uint8(1), (2**31 - 1,)), False),
        (np.broadcast_to(np.uint8(1), (2**31,)), True),
        (np.broadcast_to(np.uint8(1), (2**40, 0)), True),
        (np.zeros((4, 4), np.float32)[::-1, ::-1], False),
    ],
)
def test_extents_make_an_array_wide(array: Array, expected: bool) -> None:
    assert is_wide(array) is expected


@pytest.mark.parametrize(("extra", "expected"), [(0, False), (1, True)])
def test_the_farthest_element_makes_an_array_wide(extra: int, expected: bool) -> None:
    array = huge((2**29 + 1, 4), "u2")[: 2**29 + extra, :1]
    assert is_wide(array) is expected
