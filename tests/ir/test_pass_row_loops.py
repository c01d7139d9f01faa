"""The pass `row-loops`: rows that are reduced become a loop, unless one row needs another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.lowering.row_loops import loop_over_rows
from eas.ir.nodes import For, walk

ROWS, COLUMNS = 4, 64


@eas.kernel
def centered(x, y):
    at = mk.arange(0, ROWS)[:, None] * COLUMNS + mk.arange(0, COLUMNS)[None, :]
    v = mk.load(x, at)
    mk.store(y, at, v - mk.max(v, axis=1)[:, None])


@eas.kernel
def reads_what_other_rows_write(x, y):
    row, column = mk.arange(0, ROWS)[:, None], mk.arange(0, COLUMNS)[None, :]
    v = mk.load(x, (ROWS - 1 - row) * COLUMNS + column)
    mk.store(x, row * COLUMNS + column, v - mk.max(v, axis=1)[:, None])
    mk.store(y, row * COLUMNS + column, v)


@eas.kernel
def overwrites_what_other_rows_write(x, y):
    row, column = mk.arange(0, ROWS)[:, None], mk.arange(0, COLUMNS)[None, :]
    v = mk.load(x, row * COLUMNS + column)
    mk.store(y, row * COLUMNS + column, v - mk.max(v, axis=1)[:, None])
    mk.store(y, (ROWS - 1 - row) * COLUMNS + column, v)


def loops_of(kernel: Any) -> int:
    function = loop_over_rows(kernel.compile("*f32", "*f32").function)
    return sum(isinstance(op, For) for op in walk(function.body))


def test_independent_rows_become_a_loop() -> None:
    assert loops_of(centered) == 1


DEPENDENT = [reads_what_other_rows_write, overwrites_what_other_rows_write]


@pytest.mark.parametrize("kernel", DEPENDENT, ids=lambda kernel: kernel.name)
def test_rows_that_depend_on_each_other_stay_one_block(kernel: Any) -> None:
    assert loops_of(kernel) == 0


@pytest.mark.parametrize("kernel", [centered, *DEPENDENT], ids=lambda kernel: kernel.name)
def test_the_cpu_computes_what_the_interpreter_does(kernel: Any) -> None:
    found: list[list[float]] = []
    for backend in ("interpret", "cpu"):
        x = np.arange(ROWS * COLUMNS, dtype=np.float32) ** 1.5
        y = np.zeros_like(x)
        kernel(x, y, _grid=(1,), _backend=backend)
        found.append([*x, *y])
    assert found[0] == found[1]
