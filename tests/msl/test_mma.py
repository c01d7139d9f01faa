"""The ops of Metal: what they mean, and what verifies.

The memory behind a pointer is a row for each program.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from eas.ir.nodes import Function
from eas.ir.ops.reduce import REDUCE
from eas.ir.stages import CORE
from eas.ir.text import parse_function, print_function
from eas.ir.types import BF16, F16, F32
from eas.ir.verify import VerifyError, verify
from eas.msl.ops import mma
from eas.msl.ops.all_reduce import ALL_REDUCE
from eas.msl.pipeline import WITH_MMA
from eas.runtime.argument_values import ArrayArgument
from eas.runtime.interpreter import run

Array = np.ndarray[Any, np.dtype[Any]]


def numbers(*shape: int, dtype: Any = F32.numpy, seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


@pytest.mark.parametrize("transposed", [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("dtype", [F16, BF16, F32], ids=str)
def test_mma_adds_the_product_of_two_tiles(transposed: tuple[int, int], dtype: Any) -> None:
    a, b, acc = numbers(2, 3, 8, 16), numbers(2, 3, 16, 24), numbers(2, 3 * 8 * 24)
    tiles = [
        (np.swapaxes(m, -1, -2) if turned else m).reshape(2, -1).astype(dtype.numpy)
        for m, turned in zip((a, b), transposed, strict=True)
    ]
    found = mma.MULTIPLY.meaning(acc, *tiles, shape=(3, 8, 24), k=16, transposed=transposed)
    np.testing.assert_array_equal(found, (a @ b).reshape(2, -1) + acc, strict=True)


@pytest.mark.parametrize("by_rows", [False, True], ids=["by a number", "by rows"])
def test_mma_scaled_multiplies_the_accumulator_first(by_rows: bool) -> None:
    a, b, acc = numbers(2, 8, 16), numbers(2, 16, 24), numbers(2, 8, 24)
    factor = numbers(2, 8 if by_rows else 1, seed=1)
    found = mma.SCALED.meaning(
        acc.reshape(2, -1),
        a.reshape(2, -1),
        b.reshape(2, -1),
        factor if by_rows else factor[:, 0],
        shape=(8, 24),
        k=16,
        transposed=(0, 0),
    )
    np.testing.assert_array_equal(found, (a @ b + acc * factor[:, :, None]).reshape(2, -1))


@pytest.mark.parametrize("lengths", [(20, 24), (16, 0), (0, 30)])
@pytest.mark.parametrize("transposed", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_mma_in_place_reads_rows_of_some_length_from_an_offset(
    transposed: tuple[int, int], lengths: tuple[int, int]
) -> None:
    """Two programs, with matrices at different offsets."""
    a, b, acc = numbers(2, 8, 16), numbers(2, 16, 24), numbers(2, 8 * 24)
    offsets = np.array([3, 40], "i4")
    factors: list[Array] = []
    for matrix, length, turned in zip((a, b), lengths, transposed, strict=True):
        stored = np.swapaxes(matrix, -1, -2) if turned else matrix
        memory = np.full((2, 1000), np.nan, "f4")
        for program, offset in enumerate(offsets):
            for row, elements in enumerate(stored[program]):
                start = offset + row * length
                memory[program, start : start + len(elements)] = elements
        factors += [memory if length else stored.reshape(2, -1), offsets]
    attrs: dict[str, Any] = {"shape": (8, 24), "k": 16, "transposed": transposed}
    found = mma.IN_PLACE.meaning(acc, *factors, **attrs, lengths=lengths)
    np.testing.assert_array_equal(found, (a @ b).reshape(2, -1) + acc)
    half = np.full(2, 0.5, "f4")
    found = mma.SCALED_IN_PLACE.meaning(acc, *factors, half, **attrs, lengths=lengths)
    np.testing.assert_array_equal(found, (a @ b).reshape(2, -1) + acc / 2)


def test_a_pipelined_loop_adds_each_product_a_trip_later() -> None:
    """Two programs, of which the second one makes no trip."""
    trips = [(numbers(2, 8, 8, seed=n), numbers(2, 8, 8, seed=n + 9)) for n in range(3)]
    acc, parity = np.zeros((2, 64), "f4"), np.zeros((2, 1), "i4")
    left, right = (np.full((2, 128), np.nan, "f4") for _ in "ab")
    attrs: dict[str, Any] = {"shape": (8, 8), "k": 8, "transposed": (0, 0), "buffers": (2, 2)}
    is_active = np.array([[True], [False]])
    for a, b in trips:
        added = mma.PIPELINED.meaning(acc, left, right, parity, **attrs)
        stored = [
            mma.STORE_SLOT.meaning(tile, matrix, parity, role=role)
            for tile, matrix, role in ((left, a, "left"), (right, b, "right"))
        ]
        acc = np.where(is_active, added, acc)
        left, right = (
            np.where(is_active, s, t) for s, t in zip(stored, (left, right), strict=True)
        )
        parity = np.where(is_active, mma.PARITY_FLIP.meaning(parity), parity)
    acc = mma.PIPELINED.meaning(acc, left, right, parity, **attrs)
    expected = sum(a[0] @ b[0] for a, b in trips)
    np.testing.assert_array_equal(acc, [np.ravel(expected), np.zeros(64)])
    np.testing.assert_array_equal(mma.PARITY_START.meaning(parity), [[0], [0]])


def test_an_accumulator_begins_with_zeros_or_a_tile_and_ends_as_a_block() -> None:
    acc, tile = numbers(2, 64), numbers(2, 64, seed=1)
    np.testing.assert_array_equal(mma.ZERO.meaning(acc, shape=(8, 8)), np.zeros((2, 64)))
    np.testing.assert_array_equal(mma.LOAD.meaning(acc, tile, shape=(8, 8)), tile)
    block = mma.EPILOGUE.meaning(acc, shape=(8, 8))
    np.testing.assert_array_equal(block, acc.reshape(2, 8, 8))
    assert not np.shares_memory(block, acc)  # which changes later


@pytest.mark.parametrize("kind", ALL_REDUCE)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_an_all_reduce_gives_every_lane_of_an_axis_the_result(kind: str, axis: int) -> None:
    [plain] = [record for record in REDUCE if record.reduction == kind]
    is_bool = kind in ("any", "all")
    a = numbers(2, 3, 4, 5, dtype=np.bool_ if is_bool else np.int32)
    found = ALL_REDUCE[kind].meaning(a, axis=axis)
    reduced = np.expand_dims(plain.meaning(a, axis=axis), axis + 1)
    np.testing.assert_array_equal(
        found, np.repeat(reduced, a.shape[axis + 1], axis + 1), strict=True
    )


MEMORY = (
    "%acc.2: *f32@register = alloc 64",
    "%parity.3: *i32@register = alloc 1",
    "%tile.4: *f32@tile = alloc 64",
    "%half.5: *f16@tile = alloc 64",
    "%one.6: f32 = 1.0",
    "%block.7: f32[8, 8] = splat %one.6 shape=[8, 8]",
    "%zero.9: i32 = 0",
    "%i.10: i32[8, 8] = splat %zero.9 shape=[8, 8]",
    "%own.11: *f32@threadgroup = alloc 99",
)

LEGAL = (
    "mma_zero %acc.2 shape=[8, 8]",
    "mma_load %acc.2, %tile.4 shape=[8, 8]",
    "mma_prefetch %block.7",
    'mma_store %tile.4, %block.7 role="left"',
    'mma_store_slot %tile.4, %block.7, %parity.3 role="right"',
    "mma %acc.2, %tile.4, %tile.4 shape=[8, 8] k=8 transposed=[0, 1]",
    "mma_scaled %acc.2, %half.5, %half.5, %one.6 shape=[8, 8] k=8 transposed=[0, 0]",
    "mma_scaled %acc.2, %half.5, %half.5, %tile.4 shape=[8, 8] k=8 transposed=[0, 0]",
    "mma_in_place %acc.2, %own.11, %zero.9, %own.11, %zero.9 shape=[8, 8] k=8 transposed=[0, 1] "
    "lengths=[8, 9]",
    "mma_in_place %acc.2, %tile.4, %zero.9, %own.11, %zero.9 shape=[8, 8] k=8 transposed=[0, 1] "
    "lengths=[0, 9]",
    "mma_scaled_in_place %acc.2, %own.11, %zero.9, %tile.4, %zero.9, %one.6 shape=[8, 8] k=8 "
    "transposed=[0, 1] lengths=[8, 0]",
    "mma_pipelined %acc.2, %tile.4, %tile.4, %parity.3 shape=[8, 8] k=8 transposed=[0, 0] "
    "buffers=[2, 1]",
    "mma_parity_start %parity.3",
    "mma_parity_flip %parity.3",
    "%8: f32[8, 8] = mma_epilogue %acc.2 shape=[8, 8]",
    "%8: f32[8, 8] = all_reduce_sum %block.7 axis=1",
)

ILLEGAL = {
    "mma_zero %tile.4 shape=[8, 8]": "`mma_zero` takes f32 in register memory as the "
    "accumulator, not *f32@tile",
    "mma_zero %acc.2 shape=[8, 4]": "`mma_zero` takes matrices, or a batch of them, whose extents "
    "are multiples of 8",
    "mma_load %acc.2, %half.5 shape=[8, 8]": "`mma_load` takes f32 in tile memory as the "
    "tile, not *f16@tile",
    "mma_prefetch %one.6": "`mma_prefetch` takes a block, not f32",
    'mma_store %half.5, %block.7 role="left"': "`mma_store` takes f32 in tile memory as "
    "the tile, not *f16@tile",
    'mma_store %tile.4, %block.7 role="up"': "`mma_store` has the role 'up', which is none of "
    "left, right, factor, start",
    'mma_store_slot %tile.4, %block.7, %acc.2 role="left"': "`mma_store_slot` takes i32 in "
    "register memory as the parity, not *f32@register",
    "mma %acc.2, %tile.4, %half.5 shape=[8, 8] k=8 transposed=[0, 1]": "`mma` takes f32 in tile "
    "memory as the right factor, not *f16@tile",
    "mma %acc.2, %tile.4, %tile.4 shape=[8, 8] k=4 transposed=[0, 1]": "`mma` takes tiles whose "
    "extents are multiples of 8, each transposed or not",
    "mma_scaled %acc.2, %half.5, %half.5, %half.5 shape=[8, 8] k=8 transposed=[0, 0]": ""
    "`mma_scaled` takes f32 in tile memory as the factors of rows, not *f16@tile",
    "mma_pipelined %acc.2, %tile.4, %tile.4, %parity.3 shape=[8, 8] k=8 transposed=[0, 0] "
    "buffers=[3, 1]": "`mma_pipelined` takes tiles of one or two buffers",
    "mma_in_place %acc.2, %own.11, %zero.9, %own.11, %zero.9 shape=[8, 8] k=8 transposed=[0, 1] "
    "lengths=[8, 7]": "`mma_in_place` takes rows that do not overlap",
    "mma_in_place %acc.2, %own.11, %zero.9, %tile.4, %zero.9 shape=[8, 8] k=8 transposed=[0, 1] "
    "lengths=[8, 8]": "`mma_in_place` takes f32 in threadgroup memory as the right factor, not "
    "*f32@tile",
    "mma_in_place %acc.2, %own.11, %zero.9, %half.5, %zero.9 shape=[8, 8] k=8 transposed=[0, 1] "
    "lengths=[8, 0]": "`mma_in_place` takes f32 in tile memory as the right factor, not *f16@tile",
    "mma_in_place %acc.2, %tile.4, %zero.9, %tile.4, %zero.9 shape=[8, 8] k=8 transposed=[0, 1] "
    "lengths=[0, 0]": "`mma_in_place` takes the lengths of both factors' rows, of which one is not "
    "0",
    "mma_in_place %acc.2, %own.11, %one.6, %own.11, %zero.9 shape=[8, 8] k=8 transposed=[0, 1] "
    "lengths=[8, 8]": "`mma_in_place` takes an i32 as an offset, not f32",
    "mma_scaled_in_place %acc.2, %own.11, %zero.9, %own.11, %zero.9, %half.5 shape=[8, 8] k=8 "
    "transposed=[0, 1] lengths=[8, 8]": "`mma_scaled_in_place` takes f32 in tile memory as the "
    "factors of rows, not *f16@tile",
    "mma_parity_flip %acc.2": "`mma_parity_flip` takes i32 in register memory as the "
    "parity, not *f32@register",
    "%8: f32[8] = mma_epilogue %acc.2 shape=[8, 8]": "the result of `mma_epilogue` is f32[8], but "
    "should be f32[8, 8]",
    "%8: f32[8] = all_reduce_sum %block.7 axis=1": "the result of `all_reduce_sum` is f32[8], but "
    "should be f32[8, 8]",
    "%8: f32 = all_reduce_sum %block.7 axis=none": "`all_reduce_sum` reduces one axis, not the "
    "whole block",
    "%8: f32[8, 8] = load %tile.4[%i.10]": "no offset leads to an element of *f32@tile",
    "%8: f32[8, 8] = add %block.7, %tile.4": "an operand is the pointer %4",
}


def function_of(line: str) -> Function:
    body = "".join(f"  {each}\n" for each in (*MEMORY, line))
    return parse_function(f'kernel f(%x.0: *f32) from "f.py" {{\n{body}}}\n', WITH_MMA.ops)


@pytest.mark.parametrize("line", LEGAL)
def test_an_op_of_metal_is_legal_after_the_pass_that_makes_it(line: str) -> None:
    function = function_of(line)
    verify(function, WITH_MMA)
    assert parse_function(print_function(function), WITH_MMA.ops) == function


@pytest.mark.parametrize("line", LEGAL)
def test_an_op_of_metal_is_illegal_before(line: str) -> None:
    with pytest.raises(VerifyError):
        verify(function_of(line), CORE)


@pytest.mark.parametrize("line", ILLEGAL)
def test_an_op_of_metal_is_typed(line: str) -> None:
    with pytest.raises(VerifyError) as caught:
        verify(function_of(line), WITH_MMA)
    assert caught.value.message == ILLEGAL[line]


def test_an_op_of_metal_takes_all_lanes() -> None:
    function = function_of(
        "%8: bool[8, 8] = lt %block.7, %block.7\n  if %8 {\n    mma_parity_flip %parity.3\n  }"
    )
    with pytest.raises(VerifyError, match="some lanes may not get here"):
        verify(function, WITH_MMA)


def test_what_is_read_before_it_is_written_shows() -> None:
    product = "mma %acc.2, %tile.4, %tile.4 shape=[8, 8] k=8 transposed=[0, 1]"
    block = "%11: f32[8, 8] = mma_epilogue %acc.2 shape=[8, 8]"
    lines = ("mma_zero %acc.2 shape=[8, 8]", product, block, "store %x.0[%i.10] = %11")
    x = np.zeros(1, "f4")
    run(function_of("\n  ".join(lines)), [ArrayArgument(x, 0, (1,))], (1,))
    assert np.isnan(x[0])
