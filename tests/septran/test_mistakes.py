"""Mistakes that `check` finds in a logic and its mapping: all at once, with their lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import eas
from tests.septran.small import codes, host, make, on_every_machine, refusal

LOOP = """
@task.define(leaf=True)
def double(Y, X):
    Y[...] = X + X


@task.define
def rows(Y, X):
    task.launch(double, Y, X)


@task.define(shapes="Y[M,N] X[M,N]")
def main(Y, X):
    Yp = task.partition(Y, by="rows", tile=8)
    Xp = task.partition(X, by="rows", tile=8)
    for i in task.parallel_range(Yp.shape[0]):
        task.launch(rows, Yp[i, 0], Xp[i, 0])
"""
LOOP_MAPPING = """\
machine: cpu
entrypoint: host
task_mappings:
  host: {task_name: main, proc: HOST, calls: {rows: rows}}
  rows: {task_name: rows, proc: BLOCK, mems: {X: SHARED}@}
"""


@pytest.mark.parametrize("asked", ["pipeline: 2", "tunables: {pipeline_depth: 2}"])
def test_a_pipeline_of_an_instance_without_a_loop_is_refused(asked: str, tmp_path: Path) -> None:
    mapping = LOOP_MAPPING.replace("@", f", {asked}")
    error = refusal(make(tmp_path, LOOP, mapping), M=32, N=8)
    assert codes(error) == ["S502"]
    place = error.diagnostics[0].loc
    assert (place.line, place.column) == (5, mapping.splitlines()[4].index("2"))
    assert "has no sequential loop" in str(error)


def test_a_single_stage_of_an_instance_without_a_loop_is_no_mistake(tmp_path: Path) -> None:
    make(tmp_path, LOOP, LOOP_MAPPING.replace("@", ", pipeline: 1")).build(M=32, N=8)


CALLER = """
machine: cpu
entrypoint: host
task_mappings:
  host: {task_name: main, proc: HOST, tunables: {deep: 0}, calls: {first: one, second: two}}
  one: {task_name: first, proc: BLOCK, tunables: {deep: 8}}
  two: {task_name: second, proc: BLOCK}
"""
TWO_TASKS = """
@task.define(leaf=True)
def double(Y, X):
    Y[...] = X + X


@task.define
def first(Y, X):
    n = task.tunable("deep")
    task.launch(double, Y, X)


@task.define
def second(Y, X):
    n = task.tunable("deep")
    task.launch(double, Y, X)


@task.define(shapes="Y[M,N] X[M,N]")
def main(Y, X):
    task.launch(first, Y, X)
    task.launch(second, Y, X)
"""


def test_a_wrong_tunable_is_pointed_at_in_the_instance_that_hands_it_down(tmp_path: Path) -> None:
    [found] = refusal(make(tmp_path, TWO_TASKS, CALLER), M=4, N=4).diagnostics
    assert (found.code, found.loc.line) == ("S808", 5)
    assert "n = task.tunable" in found.secondary[0].loc.source.line(found.secondary[0].loc.line)


THREE = """
@task.define(leaf=True)
def first(Y, X):
    Y[...] = X + Z


@task.define(leaf=True)
def second(Y, X):
    Y[...] = mk.maxmum(X, X)


@task.define
def third(Y, X):
    Yp = task.partition(Y, by="rowz", tile=8)


@task.define(shapes="Y[M,N] X[M,N]")
def main(Y, X):
    task.launch(first, Y, X)
    task.launch(second, Y, X)
    task.launch(third, Y, X)
"""
THREE_MAPPING = """\
machine: cpu
entrypoint: host
task_mappings:
  host: {task_name: main, proc: HOST, calls: {third: third}}
  third: {task_name: third, proc: HOST}
"""


def test_mistakes_in_three_tasks_are_all_reported(tmp_path: Path) -> None:
    error = refusal(make(tmp_path, THREE, THREE_MAPPING), M=4, N=4)
    places = [(each.code, each.loc.line) for each in error.diagnostics]
    assert places == [("S802", 7), ("S802", 12), ("S809", 17)]
    assert "did you mean `maximum`?" in str(error) and "did you mean `rows`?" in str(error)


def test_mistakes_of_a_mapping_against_its_machine_and_its_logic_are_reported_together(
    tmp_path: Path,
) -> None:
    mapping = """\
machine: cpu
entrypoint: host
task_mappings:
  host: {task_name: main, proc: HSOT, mems: {Z: GLOBAL}, calls: {thirt: third}, pipelin: 1}
  third: {task_name: thrid, proc: HOST, mems: {Y: GLOBL}}
"""
    with pytest.raises(eas.CompileError) as caught:
        make(tmp_path, THREE, mapping)
    found = sorted(codes(caught.value))
    assert found == ["S106", "S115", "S116", "S119", "S119", "S125", "S802", "S802"]


def test_mistakes_of_the_mapping_in_three_instances_are_all_reported(tmp_path: Path) -> None:
    logic = """
@task.define(leaf=True)
def copy(Y, X):
    Y[...] = X


@task.define
def seen(Y, X):
    task.launch(copy, Y, X)


@task.define
def held(Y, X):
    t = task.local("t", Y.shape)
    task.launch(copy, t, X)
    task.launch(copy, Y, t)


@task.define(shapes="Y[M,N] X[M,N]")
def main(Y, X):
    task.launch(seen, Y, X)
    task.launch(held, Y, X)
    task.launch("seen", Y, X)
"""
    mapping = """\
machine: cpu
entrypoint: host
task_mappings:
  host: {task_name: main, proc: BLOCK, calls: {held: held}}
  held: {task_name: held, proc: HOST}
"""
    error = refusal(make(tmp_path, logic, mapping), M=4, N=4)
    assert codes(error) == ["S201", "S207", "S204"]


@on_every_machine
def test_arrays_of_a_mapping_for_other_sizes_are_refused(machine: str, tmp_path: Path) -> None:
    mapping = host(machine) + 'when: "M >= 256"\n'
    operator = make(tmp_path, LOOP.replace("task.launch(rows", "task.launch(double"), mapping)
    error = refusal(operator, np.zeros((8, 8), "f4"), np.zeros((8, 8), "f4"))
    assert codes(error) == ["S603"]


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("task.tunable", "task.tunabel", "`task` has no `tunabel`"),
        ("launch(rows", "launch(row", "the name `row` is not defined"),
    ],
)
def test_a_name_that_is_wrong_in_the_logic_is_not_blamed_on_the_mapping(
    right: str, wrong: str, message: str, tmp_path: Path
) -> None:
    logic = LOOP.replace('X, by="rows", tile=8', 'X, by="rows", tile=task.tunable("tall")')
    mapping = LOOP_MAPPING.replace("HOST, ", "HOST, tunables: {tall: 8}, ").replace("@", "")
    make(tmp_path, logic, mapping).build(M=32, N=8)
    error = refusal(make(tmp_path, logic.replace(right, wrong), mapping), M=32, N=8)
    assert [(each.code, each.message) for each in error.diagnostics] == [("S802", message)]


def test_a_primitive_that_is_not_there_is_said_before_the_sizes_that_it_would_name(
    tmp_path: Path,
) -> None:
    logic = LOOP.replace("Y[...] = X + X", "task.call_primitive('cpy', Y, X)").replace(
        'shapes="Y[M,N] X[M,N]"', ""
    )
    error = refusal(make(tmp_path, logic, LOOP_MAPPING.replace("@", "")), M=32, N=8)
    assert codes(error) == ["S804"] and "did you mean `copy`?" in str(error)


@pytest.mark.parametrize(
    ("right", "wrong", "code", "key"),
    [
        ("proc: BLOCK", "prco: BLOCK", "S106", "prco"),
        ("task_mappings:", "task_mapping:", "S106", "task_mapping"),
        ("mems: {X: SHARED}", "mems: ", "S108", "mems"),
    ],
)
def test_a_wrong_key_is_one_mistake_at_the_key(
    right: str, wrong: str, code: str, key: str, tmp_path: Path
) -> None:
    mapping = LOOP_MAPPING.replace("@", "").replace(right, wrong)
    with pytest.raises(eas.CompileError) as caught:
        make(tmp_path, LOOP, mapping)
    [found] = caught.value.diagnostics
    line = mapping.splitlines()[found.loc.line - 1]
    assert (found.code, line[found.loc.column : found.loc.end_column]) == (code, key)
