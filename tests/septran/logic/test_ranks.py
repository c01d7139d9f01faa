"""The ranks of tensors that nobody declares: from how the logic uses them."""

from __future__ import annotations

from pathlib import Path

import pytest

from eas.septran.logic.dimensions import fitting_ranks
from eas.septran.logic.loading import load_logic

LOGIC = """
from eas import mk
from eas import task_lang as task


@task.define(leaf=True)
def outer_leaf(C, x, y):
    C[...] = x[:, None] * y[None, :]


@task.define
def outer(C, x, y):
    Cp = task.partition(C, tile=(8, 8))
    xp, yp = task.partition(x, by="rows", tile=8), task.partition(y, by="rows", tile=8)
    for i, j in task.parallel_range(Cp.shape):
        task.launch(outer_leaf, Cp[i, j], xp[i], yp[j])


@task.define(leaf=True)
def scale_leaf(Y, X, g):
    Y[...] = X * g[None, :]


@task.define
def scale_block(Y, X, g):
    task.launch(scale_leaf, Y, X, g)


@task.define
def scale(Y, X, g):
    for b in task.parallel_range(X.shape[0]):
        Yp, Xp = task.partition(Y[b], by="rows", tile=8), task.partition(X[b], by="rows", tile=8)
        for i in task.parallel_range(Xp.shape[0]):
            task.launch(scale_block, Yp[i, 0], Xp[i, 0], g)
"""


@pytest.mark.parametrize(
    ("task", "expected"),
    [("outer", {"C": 2, "x": 1, "y": 1}), ("scale", {"Y": 3, "X": 3, "g": 1})],
)
def test_ranks_fit_the_logic(task: str, expected: dict[str, int], tmp_path: Path) -> None:
    path = tmp_path / "ranks_logic.py"
    path.write_text(LOGIC, "utf-8")
    assert fitting_ranks(load_logic(path).tasks[task], {}) == expected
