"""A tensor that a launch passes twice, and a product that is written over a factor."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import eas
from eas.septran.logic.loading import load_logic
from eas.septran.operators import load

LOGIC = """
from eas import task_lang as task


@task.define(leaf=True)
def twice(Y, X):
    Y[...] = X * 2.0
    Y[...] = Y + X


@task.define(leaf=True)
def square(C, A, B):
    C[...] = {product}


@task.define
def same(A):
    task.launch(twice, A, A)


@task.define
def shifted(A):
    n = A.shape[0] - 1
    task.launch(twice, A[1 : 1 + n], A[0:n])


@task.define
def product(C, A, B):
    task.launch(square, C, A, B)
"""
MAPPING = """
machine: cpu
entrypoint: it
task_mappings:
  it: {{task_name: {task}, proc: BLOCK, mems: {{}}, calls: {{twice: leaf}}}}
  leaf: {{task_name: twice, proc: BLOCK, mems: {{Y: {Y}, X: {X}}}}}
"""


def run(folder: Path, task: str, Y: str, X: str) -> tuple[np.ndarray, np.ndarray]:
    """What a task makes of an array, on `cpu` and in NumPy."""
    logic, mapping = folder / "twice_logic.py", folder / "twice.map.yaml"
    logic.write_text(LOGIC.replace("{product}", "A @ B"), "utf-8")
    mapping.write_text(MAPPING.format(task=task, Y=Y, X=X), "utf-8")
    given = np.arange(35, dtype="f4").reshape(5, 7)
    got, expected = given.copy(), given.copy()
    load(logic, mapping)(got)
    load_logic(logic).tasks[task](expected)
    return got, expected


@pytest.mark.parametrize("memory", ["GLOBAL", "SHARED", "REGISTER"])
def test_a_tile_that_is_passed_twice_is_copied_once(memory: str, tmp_path: Path) -> None:
    got, expected = run(tmp_path, "same", memory, memory)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(("task", "X"), [("same", "SHARED"), ("shifted", "REGISTER")])
def test_copies_that_would_not_see_each_other_are_refused(
    task: str, X: str, tmp_path: Path
) -> None:
    with pytest.raises(eas.CompileError) as caught:
        run(tmp_path, task, "REGISTER", X)
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.code == "S903"
    assert "uses `X` after it has written `Y`" in diagnostic.message
    assert diagnostic.loc.source.line(diagnostic.loc.line).strip().startswith("task.launch(twice,")


@pytest.mark.parametrize("product", ["C @ B", "A @ C", "C.T @ B"])
def test_a_product_over_one_of_its_factors_is_refused(product: str, tmp_path: Path) -> None:
    logic = tmp_path / "square_logic.py"
    logic.write_text(LOGIC.replace("{product}", product), "utf-8")
    arrays = [np.ones((4, 4), "f4") for _ in range(3)]
    with pytest.raises(eas.CompileError, match="written over one of its factors"):
        load_logic(logic).tasks["product"](*arrays)
