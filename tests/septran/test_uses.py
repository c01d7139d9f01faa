"""What tasks do with their tensors: declared and checked, and local tensors that hold nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import eas
from eas.septran.logic.loading import load_logic
from tests.septran.small import HEAD, codes, host, make, on_every_machine, refusal

LEAVES = """
@task.define(leaf=True)
def copy(Y, X):
    Y[...] = X


@task.define(leaf=True)
def zero(Y):
    Y[...] = 0.0


@task.define(leaf=True)
def add(Y, X):
    Y[...] += X

"""
MAIN = """
@task.define(shapes="Y[M,N] X[M,N]"{declared})
def main(Y, X):
    Yp = task.partition(Y, by="blocks", tile=(4, 8))
    Xp = task.partition(X, by="blocks", tile=(4, 8))
{body}
"""


def logic(body: str, declared: str = "") -> str:
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return LEAVES + MAIN.format(body=lines, declared=f", {declared}" if declared else "")


ONLY_WRITES = 'reads=("X",), writes=("Y",)'
TILES = "for i, j in task.parallel_range(Yp.shape):\n    "
RIGHT = {
    "whole": "task.launch(copy, Y, X)",
    "tiles": TILES + "task.launch(copy, Yp[i, j], Xp[i, j])",
    "nested": """
for i in task.parallel_range(Yp.shape[0]):
    for j in task.sequential_range(Yp.shape[1]):
        task.launch(copy, Yp[i, j], Xp[i, j])""",
    "added to what was written": "task.launch(zero, Y)\ntask.launch(add, Y, X)",
    "added tile by tile": """
for i, j in task.parallel_range(Yp.shape):
    task.launch(zero, Yp[i, j])
    task.launch(add, Yp[i, j], Xp[i, j])""",
    "written first by one loop": """
for i, j in task.parallel_range(Yp.shape):
    task.launch(zero, Yp[i, j])
for j, i in task.sequential_range(Yp.shape[1], Yp.shape[0]):
    task.launch(add, Yp[i, j], Xp[i, j])""",
    "streams": "task.launch(copy, Yp[:, :], Xp[:, :])",
    "in two parts": """
task.launch(copy, Yp[0, :], Xp[0, :])
for i in task.sequential_range(Yp.shape[0] - 1):
    task.launch(copy, Yp[i + 1, :], Xp[i + 1, :])""",
    "under conditions": """
for i, j in task.sequential_range(Yp.shape):
    if i == 0:
        task.launch(zero, Yp[i, j])
        task.launch(add, Yp[i, j], Xp[i, j])
    else:
        task.launch(copy, Yp[i, j], Xp[i, j])""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_a_task_declares_is_proved_or_tried(name: str, tmp_path: Path) -> None:
    operator = make(tmp_path, logic(RIGHT[name], ONLY_WRITES), host("cpu"))
    operator.check(M=13, N=21)


WRONG = {
    "reads": ("S301", 'reads=(), writes=("Y",)', RIGHT["whole"]),
    "writes": ("S301", 'reads=("X",), writes=()', RIGHT["whole"]),
    "adds": ("S301", ONLY_WRITES, "task.launch(add, Y, X)"),
    "adds to tiles": ("S301", ONLY_WRITES, TILES + "task.launch(add, Yp[i, j], Xp[i, j])"),
    "adds first": ("S301", ONLY_WRITES, "task.launch(add, Y, X)\ntask.launch(zero, Y)"),
    "nothing": ("S303", ONLY_WRITES, "pass"),
    "one tile": ("S303", ONLY_WRITES, "task.launch(copy, Yp[0, 0], Xp[0, 0])"),
    "all but the last": (
        "S303",
        ONLY_WRITES,
        "for i in task.parallel_range(Yp.shape[0] - 1):\n    task.launch(copy, Yp[i, :], Xp[i, :])",
    ),
    "a diagonal": (
        "S303",
        ONLY_WRITES,
        "for i in task.parallel_range(min(Yp.shape[0], Yp.shape[1])):\n"
        "    task.launch(copy, Yp[i, i], Xp[i, i])",
    ),
    "no such name": ("S802", 'writes=("Z",)', RIGHT["whole"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_a_task_does_against_its_declaration_is_refused(name: str, tmp_path: Path) -> None:
    code, declared, body = WRONG[name]
    error = refusal(make(tmp_path, logic(body, declared), host("cpu")), M=13, N=21)
    assert code in codes(error)


def test_a_name_that_is_nearly_a_parameter_is_suggested(tmp_path: Path) -> None:
    text = LEAVES.replace("copy(Y, X)", "copy(Y, source)").replace("= X", "= source", 1)
    text = text.replace("leaf=True", 'leaf=True, reads=("sorce",)', 1)
    body = MAIN.format(body="    task.launch(copy, Y, X)", declared="")
    error = refusal(make(tmp_path, text + body, host("cpu")), M=4, N=4)
    assert "did you mean `source`?" in str(error)


def test_only_what_is_declared_is_checked(tmp_path: Path) -> None:
    for declared in ("", 'writes=("Y",)', 'reads=("X", "Y")'):
        make(tmp_path, logic("task.launch(add, Y, X)", declared), host("cpu")).check(M=8, N=8)


UNWRITTEN = {
    "never": "t = task.local('t', Y.shape)\ntask.launch(copy, Y, t)",
    "added to": "t = task.local('t', Y.shape)\ntask.launch(add, t, X)\ntask.launch(copy, Y, t)",
    "a tile": """
t = task.local('t', Y.shape)
tp = task.partition(t, by="blocks", tile=(4, 8))
task.launch(zero, tp[0, 0])
task.launch(copy, Y, t)""",
    "in the first trip": """
t = task.local('t', Y.shape)
for i in task.sequential_range(3):
    if i == 1:
        task.launch(zero, t)
    task.launch(add, Y, t)""",
    "in each trip anew": """
for i in task.sequential_range(3):
    t = task.local('t', Y.shape)
    if i == 0:
        task.launch(zero, t)
    task.launch(add, Y, t)""",
}
WRITTEN = {
    "tile by tile": """
t = task.local('t', Y.shape)
tp = task.partition(t, by="blocks", tile=(4, 8))
for i, j in task.sequential_range(tp.shape):
    task.launch(copy, tp[i, j], Xp[i, j])
task.launch(copy, Y, t)""",
    "in the first trip": """
t = task.local('t', Y.shape)
for i in task.sequential_range(3):
    if i == 0:
        task.launch(zero, t)
    task.launch(add, t, X)
task.launch(copy, Y, t)""",
    "never read": "t = task.local('t', Y.shape)\ntask.launch(copy, Y, X)",
}
LOCAL = "locals: {t: GLOBAL}"


@pytest.mark.parametrize("name", UNWRITTEN)
def test_a_local_tensor_that_is_read_before_it_is_written_is_refused(
    name: str, tmp_path: Path
) -> None:
    operator = make(tmp_path, logic(UNWRITTEN[name]), host("cpu", LOCAL))
    assert codes(refusal(operator, M=13, N=21)) == ["S304"]


@on_every_machine
@pytest.mark.parametrize("name", WRITTEN)
def test_a_local_tensor_that_is_written_first_is_read(
    name: str, machine: str, tmp_path: Path
) -> None:
    x, y = np.random.default_rng(0).standard_normal((13, 21)).astype("f4"), np.zeros((13, 21), "f4")
    make(tmp_path, logic(WRITTEN[name]), host(machine, LOCAL))(y, x)
    assert np.abs(y - x * (3 if name == "in the first trip" else 1)).max() < 1e-5


def run_eagerly(body: str, folder: Path) -> None:
    file = folder / "eager_logic.py"
    file.write_text(HEAD + logic(body))
    arrays = [np.zeros((13, 21), "f4"), np.ones((13, 21), "f4")]
    load_logic(file).tasks["main"](*arrays)


@pytest.mark.parametrize("name", UNWRITTEN)
def test_a_task_on_arrays_finds_local_tensors_that_are_read_unwritten(
    name: str, tmp_path: Path
) -> None:
    with pytest.raises(eas.CompileError) as caught:
        run_eagerly(UNWRITTEN[name], tmp_path)
    assert codes(caught.value) == ["S304"]


@pytest.mark.parametrize("name", WRITTEN)
def test_a_task_on_arrays_reads_local_tensors_that_are_written(name: str, tmp_path: Path) -> None:
    run_eagerly(WRITTEN[name], tmp_path)


NONE = """
@task.define
def inner(Y, X):
    t = task.local("t", Y.shape)
    {first}
    task.launch(copy, Y, X)


@task.define(shapes="Y[M,N] X[M,N]")
def main(Y, X):
    task.launch(inner, Y, X)
"""
NONE_MAPPING = """\
machine: cpu
entrypoint: host
task_mappings:
  host: {task_name: main, proc: HOST, calls: {inner: inner}}
  inner: {task_name: inner, proc: BLOCK, locals: {t: NONE}}
"""


def test_a_local_tensor_in_no_memory_is_one_that_nothing_uses(tmp_path: Path) -> None:
    unused = LEAVES + NONE.format(first="pass")
    make(tmp_path, unused, NONE_MAPPING).check(M=8, N=8)
    used = LEAVES + NONE.format(first="task.launch(copy, t, X)")
    error = refusal(make(tmp_path, used, NONE_MAPPING), M=8, N=8)
    assert codes(error) == ["S206"]
    place = error.diagnostics[0].loc
    assert (place.line, place.column) == (5, NONE_MAPPING.splitlines()[4].index("NONE"))


def test_tiles_of_a_tensor_that_is_not_copied_may_be(tmp_path: Path) -> None:
    text = (
        LEAVES
        + """
@task.define
def inner(Y, X):
    task.launch(copy, Y, X)


@task.define(shapes="Y[M,N] X[M,N]")
def main(Y, X):
    Yp = task.partition(Y, by="rows", tile=4)
    Xp = task.partition(X, by="rows", tile=4)
    for i in task.parallel_range(Yp.shape[0]):
        task.launch(inner, Yp[i, 0], Xp[i, 0])
"""
    )
    mapping = """\
machine: cpu
entrypoint: host
task_mappings:
  host: {task_name: main, proc: HOST, mems: {X: NONE}, calls: {inner: inner}}
  inner: {task_name: inner, proc: BLOCK, mems: {X: SHARED}}
"""
    make(tmp_path, text, mapping).check(M=13, N=21)


NESTED = """
@task.define(leaf=True)
def one(Y):
    Y[...] = 1.0


@task.define
def below(P):
    Pp = task.partition(P, by="rows", tile=1)
    for q in task.sequential_range(Pp.shape[0]):
        if q > 0:
            task.launch(one, Pp[q, 0])


@task.define
def block(P):
    Pp = task.partition(P, by="rows", tile=2)
    for p in task.sequential_range(Pp.shape[0]):
        task.launch(below, Pp[p, 0])


@task.define(shapes="A[M,N]")
def main(A):
    Ap = task.partition(A, by="rows", tile=5)
    for i in task.parallel_range(Ap.shape[0]):
        task.launch(block, Ap[i, 0])
"""


def test_tiles_that_a_ragged_tile_does_not_have_are_not_tried(tmp_path: Path) -> None:
    """A tile of 5 rows has 3 of 2; the last one has 2 rows, and one of them."""
    mapping = host("cpu", "calls: {block: block}") + (
        "  block: {task_name: block, proc: BLOCK, calls: {below: below}}\n"
        "  below: {task_name: below, proc: BLOCK}\n"
    )
    array = np.zeros((12, 3), "f4")
    make(tmp_path, NESTED, mapping)(array)
    written = [row for row in range(12) if row % 5 in (1, 3)]
    assert np.flatnonzero(array[:, 0]).tolist() == written
