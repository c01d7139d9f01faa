"""Tensors that reach a leaf by two ways: as copies of copies, as windows, in two kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eas.septran.flat.interpret import run_module
from eas.septran.operators import Operator
from tests.septran.small import GRID, codes, make, on_every_machine, refusal

LEAVES = """
@task.define(leaf=True)
def double(Y, X):
    Y[...] = X * 2.0


@task.define(leaf=True)
def copy(Y, X):
    Y[...] = X


@task.define(leaf=True)
def write_both(Y, Z, X):
    t = X * 2.0
    Y[...] = Y + 1.0
    Z[...] = t


@task.define(leaf=True)
def write_and_read(Y, Z, X):
    Y[...] = Y * 2.0
    Z[...] = X


@task.define
def below(Z, W, Q):
    task.launch(double, W, W)
    task.launch(copy, Z, Q)
"""
MAPPING = """
machine: {machine}
entrypoint: host
task_mappings:
  host: {{task_name: main, proc: HOST, calls: {{block: block}}}}
  block: {{task_name: block, proc: {proc}, mems: {{P: {scratch}{more}}}, calls: {{{calls}}}}}
"""
INSTANCE = "  {name}: {{task_name: {name}, proc: {proc}, mems: {{{mems}}}}}\n"
FAST = {"cpu": "SHARED", "apple_gpu": "SHARED", "awesomedsa": "SPM"}
SUM = {"cpu": "REGISTER", "apple_gpu": "REGISTER", "awesomedsa": "ACC"}
A = np.arange(63, dtype="f4").reshape(9, 7)


def build(
    folder: Path, machine: str, tasks: str, name: str = "", mems: str = "", more: str = ""
) -> Operator:
    """Two tasks on a machine; the one of a name has an instance with memories of its own.

    `more` are memories of the block's parameters.
    """
    proc = GRID[machine]
    calls = f"{name}: {name}" if name else ""
    places = {"scratch": FAST[machine], "more": more and f", {more}"}
    mapping = MAPPING.format(machine=machine, proc=proc, calls=calls, **places)
    if name:
        mapping += INSTANCE.format(name=name, proc=proc, mems=mems)
    return make(folder, LEAVES + tasks, mapping)


IN_PLACE = """
@task.define
def block(P):
    {statements}


@task.define(shapes="A[M,N]")
def main(A):
    Ap = task.partition(A, by="rows", tile=4)
    for i in task.parallel_range(Ap.shape[0]):
        task.launch(block, Ap[i, 0])
"""
TWICE = "task.launch(double, P, P)\n    task.launch(double, P, P)"
LOOP = "for s in task.sequential_range(2):\n        task.launch(double, P, P)"


@on_every_machine
@pytest.mark.parametrize("parameter", ["Y", "X"])
@pytest.mark.parametrize("statements", [TWICE, LOOP], ids=["twice", "loop"])
def test_a_copy_of_a_copy_is_one_of_the_other_argument(
    machine: str, parameter: str, statements: str, tmp_path: Path
) -> None:
    tasks = IN_PLACE.format(statements=statements)
    operator = build(tmp_path, machine, tasks, "double", f"{parameter}: {SUM[machine]}")
    array = A.copy()
    operator(array)
    np.testing.assert_array_equal(array, A * 4)


WINDOWS = """
@task.define
def block(Z, P, Q):
    for s in task.sequential_range(3):
        task.launch({launch})


@task.define(shapes="Z[K,N] A[M,N]")
def main(Z, A):
    task.launch(block, Z, A, A)
"""


@on_every_machine
def test_a_name_has_its_value_before_a_window_beside_it_is_written(
    machine: str, tmp_path: Path
) -> None:
    tasks = WINDOWS.format(launch="write_both, P[s + 1 : s + 5], Z, P[s : s + 4]")
    array, result = A.copy(), np.zeros((4, 7), "f4")
    build(tmp_path, machine, tasks)(result, array)
    expected, doubled = A.copy(), A
    for s in range(3):
        doubled = expected[s : s + 4] * 2
        expected[s + 1 : s + 5] += 1
    np.testing.assert_array_equal(array, expected)
    np.testing.assert_array_equal(result, doubled)


@on_every_machine
def test_a_copy_beside_a_window_that_is_written_is_refused(machine: str, tmp_path: Path) -> None:
    tasks = WINDOWS.format(launch="write_and_read, P[s : s + 3], Z, P")
    operator = build(tmp_path, machine, tasks, "write_and_read", f"X: {SUM[machine]}")
    assert codes(refusal(operator, A.copy(), A.copy())) == ["S903"]


@on_every_machine
def test_what_windows_are_cut_from_is_not_used_elsewhere(machine: str, tmp_path: Path) -> None:
    """`Q` is what `P` is, in global memory: it would not see what windows of `P` have written."""
    tasks = WINDOWS.format(launch="below, Z, P[s : s + 3], Q")
    error = refusal(build(tmp_path, machine, tasks, "below"), A.copy(), A.copy())
    assert codes(error) == ["S903"]
    assert "`below` is given windows of `A`, which the mapping copies" in str(error)


@on_every_machine
def test_windows_of_two_copies_are_refused_if_one_is_written(machine: str, tmp_path: Path) -> None:
    tasks = WINDOWS.format(launch="write_and_read, P[s : s + 3], Z, Q[s : s + 3]")
    operator = build(tmp_path, machine, tasks, more=f"Q: {SUM[machine]}")
    assert codes(refusal(operator, A[:3].copy(), A.copy())) == ["S903"]


PART = """
@task.define(leaf=True)
def one(Y):
    Y[...] = 1.0


@task.define
def block(Y, P):
    task.launch(copy, Y, P)


@task.define(shapes="Z[M,N] A[M,N]")
def main(Z, A):
    Ap = task.partition(A, by="rows", tile=2)
    Zp = task.partition(Z, by="rows", tile=2)
    for i in task.parallel_range(2):
        task.launch(one, Ap[i, 0])
    for i in task.parallel_range(Ap.shape[0]):
        task.launch(block, Zp[i, 0], Ap[i, 0])
"""


@on_every_machine
def test_what_a_first_kernel_writes_in_part_is_read_too(machine: str, tmp_path: Path) -> None:
    operator = build(tmp_path, machine, PART)
    arrays = [np.zeros_like(A), A.copy()]
    lowered = operator.build_flat(*arrays)
    assert [param.privilege for param in lowered.module.params] == ["w", "rw"]
    run_module(lowered.module, arrays, machine=lowered.machine)
    expected = A.copy()
    expected[:4] = 1
    np.testing.assert_array_equal(arrays[0], expected)
