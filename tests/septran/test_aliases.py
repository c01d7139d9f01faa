"""A tensor that a launch passes twice, and a product that is written over a factor."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import eas
from eas.septran.logic.loading import load_logic
from eas.septran.operators import Operator, load
from tests.septran.small import GRID, codes, make, on_every_machine, refusal

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


LATER = """
@task.define(leaf=True)
def later(Y, X):
    t = X * 2.0
    Y[...] = 1.0
    Y[...] = Y + t


@task.define(leaf=True)
def row_sums(Y, X):
    task.call_primitive("row_sum", Y, X)


@task.define(leaf=True)
def shift(Y, X):
    Y[...] = X


@task.define(shapes="A[M,N]")
def main(A):
    {launch}
"""
MAIN = """
machine: {machine}
entrypoint: it
task_mappings:
  it: {{task_name: main, proc: {proc}, calls: {{{leaf}: leaf}}}}
  leaf: {{task_name: {leaf}, proc: {proc}, mems: {{Y: {Y}, X: {X}}}}}
"""


def operator_of(folder: Path, leaf: str, launch: str, Y: str, X: str, machine: str) -> Operator:
    mapping = MAIN.format(machine=machine, proc=GRID[machine], leaf=leaf, Y=Y, X=X)
    return make(folder, LATER.replace("{launch}", launch), mapping)


@pytest.mark.parametrize("Y", ["GLOBAL", "SHARED"])
@pytest.mark.parametrize("X", ["GLOBAL", "SHARED", "REGISTER"])
def test_a_name_has_the_value_from_before_its_tensor_is_written_by_another_parameter(
    Y: str, X: str, tmp_path: Path
) -> None:
    operator = operator_of(tmp_path, "later", "task.launch(later, A, A)", Y, X, "cpu")
    given = np.arange(35, dtype="f4").reshape(5, 7)
    got, eager = given.copy(), given.copy()
    operator(got)
    operator.entry(eager)
    np.testing.assert_array_equal(eager, 1 + 2 * given)
    np.testing.assert_array_equal(got, eager)


def test_sums_of_rows_are_not_written_over_the_rows(tmp_path: Path) -> None:
    launch = "task.launch(row_sums, A[:, 1], A)"
    operator = operator_of(tmp_path, "row_sums", launch, "GLOBAL", "REGISTER", "cpu")
    for call in (operator, operator.entry):
        with pytest.raises(eas.CompileError, match="written over what it is computed from"):
            call(np.ones((5, 7), "f4"))
    launch = "task.launch(row_sums, A[:, 0], A[:, 1:7])"
    given = np.ones((5, 7), "f4")
    operator_of(tmp_path, "row_sums", launch, "GLOBAL", "GLOBAL", "cpu")(given)
    np.testing.assert_array_equal(given[:, 0], 6)


def test_a_part_that_is_written_over_another_one_in_place_is_refused(tmp_path: Path) -> None:
    launch = "task.launch(shift, A[1:5], A[0:4])"
    given = np.arange(35, dtype="f4").reshape(5, 7)
    operator = operator_of(tmp_path, "shift", launch, "GLOBAL", "GLOBAL", "cpu")
    assert codes(refusal(operator, given)) == ["S903"]
    got = given.copy()
    operator_of(tmp_path, "shift", launch, "GLOBAL", "SHARED", "cpu")(got)
    np.testing.assert_array_equal(got[1:], given[:4])


ITERATIONS = """
    Ap = task.partition(A, by="rows", tile=2)
    for i in task.parallel_range(Ap.shape[0] - 1):
        task.launch(shift, Ap[i + 1, 0], Ap[i, 0])
"""


@on_every_machine
@pytest.mark.parametrize("memory", ["SHARED", "REGISTER"])
def test_a_barrier_does_not_order_the_programs_of_a_grid(
    machine: str, memory: str, tmp_path: Path
) -> None:
    fast = {"SHARED": "SPM", "REGISTER": "ACC"}[memory] if machine == "awesomedsa" else memory
    operator = operator_of(tmp_path, "shift", ITERATIONS, "GLOBAL", fast, machine)
    assert codes(refusal(operator, M=8, N=5)) == ["S302"]


@pytest.mark.parametrize("index", ["5", "-1"])
def test_an_index_outside_of_its_axis_is_refused_by_both(index: str, tmp_path: Path) -> None:
    launch = f"task.launch(shift, A[0], A[{index}])"
    operator = operator_of(tmp_path, "shift", launch, "GLOBAL", "REGISTER", "cpu")
    given = np.ones((5, 7), "f4")
    assert codes(refusal(operator, given)) == ["S807"]
    with pytest.raises(eas.CompileError) as caught:
        operator.entry(given)
    assert codes(caught.value) == ["S807"]


def test_a_tile_as_large_as_an_axis_goes_with_the_axis(tmp_path: Path) -> None:
    launch = 'task.launch(shift, A, task.partition(A, by="blocks", tile=(5, 7))[0, 0])'
    operator = operator_of(tmp_path, "shift", launch, "SHARED", "SHARED", "cpu")
    given = np.arange(35, dtype="f4").reshape(5, 7)
    got = given.copy()
    operator(got)
    np.testing.assert_array_equal(got, given)
