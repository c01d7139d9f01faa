"""The order of programs: each point of a grid is visited once, whichever axis comes first."""

from __future__ import annotations

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.passes import relax
from eas.llvm.analysis.facts import Facts
from eas.llvm.analysis.program_order import is_along_y


@eas.kernel
def rows_first(out, N, STRIDE, BLOCK: eas.constexpr):
    c = mk.program_id(1) * BLOCK + mk.arange(0, BLOCK)
    row = mk.program_id(2) * mk.num_programs(0) + mk.program_id(0)
    before = mk.load(out, row * STRIDE + c, c < N)
    mk.store(out, row * STRIDE + c, before + 1 + mk.program_id(0) + 10 * c, c < N)


@eas.kernel
def columns_first(out, N, STRIDE, BLOCK: eas.constexpr):
    c = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(out, mk.program_id(1) * STRIDE + c, 1.0 * c, c < N)


@eas.kernel
def packed_rows(out, N, STRIDE, BLOCK: eas.constexpr):
    c = mk.program_id(1) * BLOCK + mk.arange(0, BLOCK)
    mk.store(out, mk.program_id(0) * 4 * BLOCK + c, 1.0 * c, c < N + STRIDE)


@pytest.mark.parametrize("grid", [(1, 1, 1), (7, 3, 1), (3, 7, 2), (64, 33, 3)])
def test_every_program_runs_once(grid: tuple[int, int, int]) -> None:
    x, y, z = grid
    n = 16 * y - 3
    out = np.zeros((x * z, n), "f4")
    rows_first[grid](out, n, n, BLOCK=16, _backend="cpu")
    expected = 1 + np.arange(x * z)[:, None] % x + 10.0 * np.arange(n)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    ("kernel", "expected"), [(rows_first, True), (columns_first, False), (packed_rows, False)]
)
def test_programs_that_write_to_neighbouring_memory_follow_each_other(
    kernel: eas.Kernel, expected: bool
) -> None:
    function = relax(kernel.compile("*f32", "i32", "i32", BLOCK=16).function)
    assert is_along_y(Facts(function)) is expected
