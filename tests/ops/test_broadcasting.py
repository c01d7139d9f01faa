"""Blocks of different ranks meet as NumPy's arrays do, on each backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from tests.backends import BACKENDS
from tests.frontend.running import codes_of
from tests.ops.shapes import offsets
from tests.thorough import on_backends, sampled

Array = np.ndarray[Any, np.dtype[Any]]
every_backend = pytest.mark.parametrize("backend", BACKENDS)

PAIRS = [
    ((7,), (5, 7)),
    ((5, 7), (7,)),
    ((1,), (5, 7)),
    ((7,), (5, 1)),
    ((5, 7), (1, 7)),
    ((5, 7), (3, 5, 7)),
    ((7,), (3, 5, 7)),
    ((5, 1), (3, 1, 7)),
    ((2, 1, 1), (5, 7)),
    ((7,), (2, 3, 5, 7)),
    ((3, 1, 7), (2, 1, 5, 1)),
    ((96,), (16, 96)),
]

OPERATIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "difference": (lambda x, y: x - y, lambda x, y: x - y),
    "comparison": (lambda x, y: (x < y) * 1.0, lambda x, y: (x < y) * 1.0),
    "maximum": (mk.maximum, np.maximum),
    "where": (lambda x, y: mk.where(x > y, x, 1.0), lambda x, y: np.where(x > y, x, 1)),
    "fma": (lambda x, y: mk.fma(x, y, x), lambda x, y: x * y + x),
    "clamp": (lambda x, y: mk.clamp(x, -1.0, y), lambda x, y: np.minimum(np.maximum(x, -1), y)),
    "built-in max": (max, np.maximum),
}


def blocks(*shapes: tuple[int, ...]) -> list[Array]:
    """Small whole numbers, so that products and sums are exact."""
    random = np.random.default_rng(0)
    return [random.integers(-8, 9, shape).astype(np.float32) for shape in shapes]


@eas.kernel
def combine(x, y, out, OPERATION: eas.constexpr, SHAPES: eas.constexpr):
    a, b, whole = [offsets(shape) for shape in SHAPES]
    mk.store(out, whole, OPERATION(mk.load(x, a), mk.load(y, b)))


@pytest.mark.parametrize(
    ("operation", "backend"), on_backends(BACKENDS, [(name,) for name in OPERATIONS])
)
@sampled(3)
def test_operations_align_the_last_axes(operation: str, backend: str) -> None:
    ours, numpys = OPERATIONS[operation]
    for pair in PAIRS:
        x, y = blocks(*pair)
        expected = numpys(x, y)
        out = np.full(expected.shape, -1, np.float32)
        shapes = (*pair, expected.shape)
        combine[1](x, y, out, OPERATION=ours, SHAPES=shapes, _backend=backend)
        np.testing.assert_array_equal(out, expected, err_msg=f"{pair}")


@eas.kernel
def masked(x, out, ROWS: eas.constexpr, COLUMNS: eas.constexpr):
    """A mask, a value for other lanes and a value to store, of fewer axes than the offsets."""
    columns = mk.arange(0, COLUMNS)
    tile = mk.arange(0, ROWS)[:, None] * COLUMNS + columns
    v = mk.load(x, tile, columns % 3 > 0, other=columns.to(mk.f32))
    mk.store(out, tile, v, columns != 2)
    mk.store(out + ROWS * COLUMNS + tile, columns, columns > 0)
    mk.atomic_add(out, 2 * ROWS * COLUMNS + tile, columns, columns < 4)


@every_backend
def test_masks_and_values_of_fewer_axes_reach_memory(backend: str) -> None:
    x = blocks((5, 7))[0]
    out = np.full((3, 5, 7), -9, np.float32)
    masked[1](x, out, ROWS=5, COLUMNS=7, _backend=backend)
    columns = np.arange(7)
    read = np.where(columns % 3 > 0, x, columns)
    np.testing.assert_array_equal(out[0], np.where(columns != 2, read, -9))
    np.testing.assert_array_equal(
        out[1], np.broadcast_to(np.where(columns > 0, columns, -9), (5, 7))
    )
    np.testing.assert_array_equal(
        out[2], np.broadcast_to(np.where(columns < 4, columns - 9, -9), (5, 7))
    )


@eas.kernel
def biased(x, y, bias, out, SIZE: eas.constexpr):
    i = mk.arange(0, SIZE)
    tile = SIZE * i[:, None] + i
    mk.store(out, tile, mk.dot(x[i[:, None], i], y[i[:, None], i], mk.load(bias, i)))


@every_backend
def test_a_product_begins_with_a_row(backend: str) -> None:
    x, y, bias = blocks((16, 16), (16, 16), (16,))
    out = np.zeros_like(x)
    biased[1](x, y, bias, out, SIZE=16, _backend=backend)
    np.testing.assert_array_equal(out, x @ y + bias)


@eas.kernel
def chosen(x, row, out, ROWS: eas.constexpr, COLUMNS: eas.constexpr):
    columns = mk.arange(0, COLUMNS)
    tile = mk.arange(0, ROWS)[:, None] * COLUMNS + columns
    v, low = mk.load(x, tile), mk.load(row, columns)
    mk.store(out, tile, v if v > low else low)
    w = low
    if v < 0.0:
        w = -v
    mk.store(out + ROWS * COLUMNS, tile, w)
    wide = mk.broadcast_to(low, (2, ROWS, COLUMNS))
    mk.store(out + 2 * ROWS * COLUMNS, tile, mk.sum(wide, axis=0))


@eas.kernel
def diverged(x, row, out, SHAPE: eas.constexpr):
    """A row meets lanes of three axes, in an `if` and in a loop that they leave one by one."""
    whole = offsets(SHAPE)
    v, low = mk.load(x, whole), mk.load(row, mk.arange(0, SHAPE[2]))
    step = mk.maximum(low, 1.0)
    if v > 0.0:
        v = v * 0.5 + low
    mk.store(out, whole, v)
    while v < 9.0:
        v = v + step[None, None, :]
    mk.store(out + SHAPE[0] * SHAPE[1] * SHAPE[2], whole, v)


@every_backend
def test_a_row_meets_lanes_that_have_diverged(backend: str) -> None:
    x, row = blocks((3, 5, 7), (7,))
    out = np.zeros((2, 3, 5, 7), np.float32)
    diverged[1](x, row, out, SHAPE=(3, 5, 7), _backend=backend)
    expected = np.where(x > 0, x * np.float32(0.5) + row, x)
    np.testing.assert_array_equal(out[0], expected)
    for _ in range(40):
        expected = np.where(expected < 9, expected + np.maximum(row, 1), expected)
    np.testing.assert_array_equal(out[1], expected)


@every_backend
def test_lanes_choose_among_blocks_of_fewer_axes(backend: str) -> None:
    x, row = blocks((5, 7), (7,))
    out = np.zeros((3, 5, 7), np.float32)
    chosen[1](x, row, out, ROWS=5, COLUMNS=7, _backend=backend)
    np.testing.assert_array_equal(out[0], np.maximum(x, row))
    np.testing.assert_array_equal(out[1], np.where(x < 0, -x, row))
    np.testing.assert_array_equal(out[2], np.broadcast_to(2 * row, (5, 7)))


def test_lanes_of_fewer_axes_do_not_diverge_inside_a_larger_block() -> None:
    def diverged(out):
        columns = mk.arange(0, 8)
        tile = mk.arange(0, 4)[:, None] * 8 + columns
        if columns > 2:
            mk.store(out, tile, 1.0)

    def joined(out, flag):
        value = mk.zeros((8,))
        if flag > 0:
            value = mk.zeros((4, 8))
        mk.store(out, 0, mk.sum(value))

    assert codes_of(diverged, "*f32") == ["E0601"]
    assert codes_of(joined, "*f32", "i32") == ["E0310"]


def test_a_scalar_condition_does_not_repeat_a_row() -> None:
    def branches(out, flag):
        value = mk.zeros((1, 8))
        if flag > 0:
            value = mk.zeros((4, 8))
        mk.store(out, 0, mk.sum(value))

    def expression(out, flag):
        mk.store(out, 0, mk.sum(mk.zeros((4, 8)) if flag > 0 else mk.zeros((4, 1))))

    def loop(out, n):
        value = mk.zeros((1, 8))
        for _ in range(n):
            value = value + mk.zeros((4, 8))
        mk.store(out, 0, mk.sum(value))

    for kernel in (branches, expression, loop):
        assert codes_of(kernel, "*f32", "i32") == ["E0310"]


@eas.kernel
def grown(x, row, out, ROWS: eas.constexpr, COLUMNS: eas.constexpr):
    columns = mk.arange(0, COLUMNS)
    tile = mk.arange(0, ROWS)[:, None] * COLUMNS + columns
    step, v = mk.abs(mk.load(x, tile)) + 1.0, mk.load(row, columns)
    while v < 9.0 + step:
        v = v + step
    mk.store(out, tile, v)


@every_backend
def test_lanes_that_stay_in_a_loop_make_a_block_of_a_row(backend: str) -> None:
    x, row = blocks((5, 7), (7,))
    out = np.zeros((5, 7), np.float32)
    grown[1](x, row, out, ROWS=5, COLUMNS=7, _backend=backend)
    step = np.abs(x) + np.float32(1)
    expected = np.broadcast_to(row, (5, 7))
    for _ in range(100):
        expected = np.where(expected < 9 + step, expected + step, expected)
    np.testing.assert_array_equal(out, expected)
