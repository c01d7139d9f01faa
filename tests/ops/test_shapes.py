"""Changes of shape, on each backend, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from tests.ops.shapes import offsets

Array = np.ndarray[Any, np.dtype[Any]]
BACKENDS = ("interpret", "cpu", "msl-host")
both_backends = pytest.mark.parametrize("backend", BACKENDS)

ROWS, COLUMNS = 5, 12
CHANGES: dict[str, tuple[Any, Any]] = {
    "reshape": (lambda v: mk.reshape(v, (4, 15)), lambda v: v.reshape(4, 15)),
    "ravel": (mk.ravel, lambda v: v.ravel()),
    "trans": (mk.trans, lambda v: v.T),
    "permute": (
        lambda v: mk.permute(mk.reshape(v, (5, 3, 4)), (2, 0, 1)),
        lambda v: v.reshape(5, 3, 4).transpose(2, 0, 1),
    ),
    "expand": (lambda v: mk.expand_dims(v, 1), lambda v: v[:, None]),
    "flip": (lambda v: mk.flip(v, 0), lambda v: v[::-1]),
    "flip_last": (lambda v: mk.flip(v, axis=-1), lambda v: v[:, ::-1]),
    "slice": (lambda v: v[1:4, ::3], lambda v: v[1:4, ::3]),
    "broadcast": (
        lambda v: mk.broadcast_to(v[:, None, :], (5, 2, 12)),
        lambda v: np.broadcast_to(v[:, None], (5, 2, 12)),
    ),
    "cat": (lambda v: mk.cat(v, v[0:2, :] + 1.0), lambda v: np.concatenate([v, v[:2] + 1])),
    "cat_last": (
        lambda v: mk.cat(v[:, 0:5], -v, axis=1),
        lambda v: np.concatenate([v[:, :5], -v], 1),
    ),
    "join": (lambda v: mk.join(v, -v), lambda v: np.stack([v, -v], -1)),
    "split": (
        lambda v: mk.split(mk.reshape(v, (5, 6, 2)))[1],
        lambda v: v.reshape(5, 6, 2)[..., 1],
    ),
    "permute_4d": (
        lambda v: mk.permute(mk.reshape(v, (5, 2, 3, 2)), (3, 1, 0, 2)),
        lambda v: v.reshape(5, 2, 3, 2).transpose(3, 1, 0, 2),
    ),
    "flip_4d": (
        lambda v: mk.flip(mk.reshape(v, (5, 2, 3, 2)), axis=2),
        lambda v: v.reshape(5, 2, 3, 2)[:, :, ::-1],
    ),
    "cat_3d": (
        lambda v: mk.cat(mk.reshape(v, (5, 3, 4)), -mk.reshape(v, (5, 3, 4)), axis=1),
        lambda v: np.concatenate([v.reshape(5, 3, 4), -v.reshape(5, 3, 4)], 1),
    ),
    "cat_4d": (
        lambda v: mk.cat(mk.reshape(v, (5, 2, 3, 2)), mk.reshape(-v, (5, 2, 3, 2)), axis=3),
        lambda v: np.concatenate([v.reshape(5, 2, 3, 2), -v.reshape(5, 2, 3, 2)], 3),
    ),
    "join_3d": (
        lambda v: mk.join(mk.reshape(v, (5, 3, 4)), -mk.reshape(v, (5, 3, 4))),
        lambda v: np.stack([v.reshape(5, 3, 4), -v.reshape(5, 3, 4)], -1),
    ),
    "split_4d": (
        lambda v: mk.split(mk.reshape(v, (5, 2, 3, 2)))[0],
        lambda v: v.reshape(5, 2, 3, 2)[..., 0],
    ),
    "slice_4d": (
        lambda v: mk.reshape(v, (5, 2, 3, 2))[1:5:2, :, 1:, 1:],
        lambda v: v.reshape(5, 2, 3, 2)[1:5:2, :, 1:, 1:],
    ),
    "reshape_of_flipped": (
        lambda v: mk.reshape(mk.trans(mk.flip(v, 0)), (3, 4, 5)),
        lambda v: v[::-1].T.reshape(3, 4, 5),
    ),
    "ravel_of_permuted": (
        lambda v: mk.ravel(mk.permute(mk.reshape(v, (5, 3, 4)), (1, 2, 0))),
        lambda v: v.reshape(5, 3, 4).transpose(1, 2, 0).ravel(),
    ),
}


@eas.kernel
def change(x, out, CHANGE: eas.constexpr):
    value = CHANGE(mk.load(x, offsets((ROWS, COLUMNS))))
    mk.store(out, offsets(value.shape), value)


@both_backends
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_shape_agrees_with_numpy(name: str, backend: str) -> None:
    write, expected = CHANGES[name]
    x = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS)
    right: Array = np.ascontiguousarray(expected(x))
    out = np.zeros_like(right)
    change[(1,)](x, out, CHANGE=write, _backend=backend)
    np.testing.assert_array_equal(out, right)


# --- block pointers ---------------------------------------------------------------------------


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


@both_backends
def test_block_pointers_move_and_stop_at_the_edges(backend: str) -> None:
    a = np.arange(13 * 21, dtype=np.float32).reshape(13, 21)
    out = np.zeros_like(a)
    copy_tiles[(4,)](a, out, 13, 21, TILES=3, ROWS=4, COLUMNS=8, _backend=backend)
    np.testing.assert_array_equal(out, 2 * a)


@eas.kernel
def padded(a, out, PADDING: eas.constexpr):
    p = mk.make_block_ptr(a, (3,), (1,), (-1,), (6,))
    mk.store(out, mk.arange(0, 6), mk.load(p, boundary_check=(0,), padding=PADDING))


@both_backends
@pytest.mark.parametrize(("padding", "value"), [("zero", 0.0), ("nan", np.nan)])
def test_what_is_out_of_bounds_is_padding(padding: str, value: float, backend: str) -> None:
    a, out = np.array([1, 2, 3], np.float32), np.zeros(6, np.float32)
    padded[(1,)](a, out, PADDING=padding, _backend=backend)
    np.testing.assert_array_equal(out, np.array([value, 1, 2, 3, value, value], np.float32))


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


@both_backends
@pytest.mark.parametrize("stores", [False, True])
@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_block_pointers_check_the_axes_that_they_are_told_to(
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
