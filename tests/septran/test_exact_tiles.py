"""A tile that is as large as its axis: its extent is the tile's, as that of every other tile."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.septran.small import GRID, make, on_every_machine

PREFIX_SUMS = """
@task.define(leaf=True)
def zero(total):
    total[...] = 0.0


@task.define(leaf=True)
def add(Y, total, X):
    total[...] = total + X
    Y[...] = total


@task.define
def columns(Y, X):
    total = task.local("total", (1, X.shape[1]))
    Yp = task.partition(Y, by="rows", tile=1)
    Xp = task.partition(X, by="rows", tile=1)
    task.launch(zero, total)
    for i in task.sequential_range(Yp.shape[0]):
        task.launch(add, Yp[i, 0], total, Xp[i, 0])


@task.define(shapes="Y[M,N] X[M,N]")
def main(Y, X):
    task.launch(columns, Y, X)
"""
MAPPING = """\
machine: {machine}
entrypoint: host
task_mappings:
  host: {{task_name: main, proc: HOST, calls: {{columns: columns}}}}
  columns: {{task_name: columns, proc: {grid}, locals: {{total: {memory}}}}}
"""


@on_every_machine
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_tile_of_one_row_goes_with_a_local_row(rows: int, machine: str, tmp_path: Path) -> None:
    x = np.arange(rows * 5, dtype="f4").reshape(rows, 5)
    y = np.zeros_like(x)
    memory = "SPM" if machine == "awesomedsa" else "SHARED"
    mapping = MAPPING.format(machine=machine, grid=GRID[machine], memory=memory)
    make(tmp_path, PREFIX_SUMS, mapping)(y, x)
    assert (y == np.cumsum(x, 0)).all()
