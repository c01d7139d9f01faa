"""Block pointers beyond the table: tiles that move in a loop, any order of axes, some checked."""

from __future__ import annotations

import numpy as np
import pytest

import eas
from eas import mk
from tests.backends import BACKENDS
from tests.frontend.running import codes_of
from tests.thorough import sampled

each_backend = pytest.mark.parametrize("backend", BACKENDS)


@eas.kernel
def copy_tiles(a, out, M, N, TILES: eas.constexpr, ROWS: eas.constexpr, COLUMNS: eas.constexpr):
    row = mk.program_id(0) * ROWS
    source = mk.make_block_ptr(a, (M, N), (N, 1), (row, 0), (ROWS, COLUMNS))
    target = mk.make_block_ptr(out, (M, N), (N, 1), (row, 0), (ROWS, COLUMNS))
    for _ in range(TILES):
        tile = mk.load(source, boundary_check=(0, 1))
        mk.store(target, 2.0 * tile, boundary_check=(0, 1))
        source = mk.advance(source, (0, COLUMNS))
        target = mk.advance(target, (0, COLUMNS))


@each_backend
def test_block_pointers_move_and_stop_at_the_edges(backend: str) -> None:
    a = np.arange(13 * 21, dtype=np.float32).reshape(13, 21)
    out = np.zeros_like(a)
    copy_tiles[(4,)](a, out, 13, 21, TILES=3, ROWS=4, COLUMNS=8, _backend=backend)
    np.testing.assert_array_equal(out, 2 * a)


@eas.kernel
def copy_ends(a, out, CHECK: eas.constexpr):
    source = mk.make_block_ptr(a, (2, 3), (4, 1), (0, 0), (2, 4))
    target = mk.make_block_ptr(out, (2, 4), (4, 1), (0, 0), (2, 4))
    mk.store(target, mk.load(source, boundary_check=CHECK))


@pytest.mark.parametrize("axis", [1, -1])
def test_an_axis_that_is_checked_is_counted_from_either_end(axis: int) -> None:
    a, out = np.ones((2, 4), np.float32), np.ones((2, 4), np.float32)
    copy_ends[1](a, out, CHECK=(axis,), _backend="interpret")
    np.testing.assert_array_equal(out, [[1, 1, 1, 0]] * 2)


@pytest.mark.parametrize("axis", [2, -3])
def test_an_axis_that_a_block_does_not_have_is_refused(axis: int) -> None:
    assert codes_of(copy_ends.fn, "*f32", "*f32", CHECK=(axis,)) == ["E0511"]


# A tile of an array of three axes, of which some are checked, and where they lie in memory.
CHECKS = [(0, 1, 2), (2, 0), (1,), ()]
ORDERS = [(0, 1, 2), (2, 1, 0), (1, 2, 0)]
EXTENTS, TILE = (3, 5, 4), (2, 4, 3)


@eas.kernel
def copy_box(
    a,
    out,
    STRIDES: eas.constexpr,
    START: eas.constexpr,
    CHECK: eas.constexpr,
    IS_STORED: eas.constexpr,
):
    near = mk.make_block_ptr(a, EXTENTS, STRIDES, START, TILE)
    plain = mk.make_block_ptr(out, TILE, (12, 3, 1), (0, 0, 0), TILE)
    if IS_STORED:
        mk.store(near, mk.load(plain) + 1.0, boundary_check=CHECK)
    else:
        mk.store(plain, mk.load(near, boundary_check=CHECK, padding="nan"))


@each_backend
@pytest.mark.parametrize("stores", [False, True])
@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("check", CHECKS, ids=str)
@sampled(3)
def test_block_pointers_check_the_axes_that_are_named(
    check: tuple[int, ...], order: tuple[int, ...], stores: bool, backend: str
) -> None:
    start = tuple((2, 3, 2)[axis] if axis in check else 0 for axis in range(3))
    strides, size = [0, 0, 0], 1
    for axis in reversed(order):
        strides[axis], size = size, size * EXTENTS[axis]
    a = np.arange(60, dtype=np.float32)
    view = np.lib.stride_tricks.as_strided(a, EXTENTS, [4 * step for step in strides])
    box = np.full(TILE, np.nan, np.float32)
    inside = tuple(slice(s, s + t) for s, t in zip(start, TILE, strict=True))
    part = view[inside]
    here = tuple(slice(0, extent) for extent in part.shape)
    box[here] = part
    out = np.arange(24, dtype=np.float32).reshape(TILE) if stores else np.zeros(TILE, np.float32)
    right = a.copy()
    if stores:
        np.lib.stride_tricks.as_strided(right, EXTENTS, view.strides)[inside] = out[here] + 1
    given = {"STRIDES": tuple(strides), "START": start, "CHECK": check, "IS_STORED": stores}
    copy_box[(1,)](a, out, **given, _backend=backend)
    np.testing.assert_array_equal(a, right)
    if not stores:
        np.testing.assert_array_equal(out, box)
