"""Tunables: what a call in NumPy is given, and what is said where a mapping has no right value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eas
from eas import task_lang as task
from tests.septran.small import host, make

LOGIC = """
@task.define(leaf=True)
def copy(Y, X):
    Y[...] = X


@task.define(shapes="Y[M,N] X[M,N]")
def main(Y, X):
    m, n = task.tunable("block_m"), task.tunable("block_n")
    Yp = task.partition(Y, by="blocks", tile=(m, n))
    Xp = task.partition(X, by="blocks", tile=(m, n))
    for i, j in task.parallel_range(Yp.shape):
        task.launch(copy, Yp[i, j], Xp[i, j])
"""


@task.define(leaf=True)
def copy(Y: Any, X: Any) -> None:
    Y[...] = X


@task.define
def main(Y: Any, X: Any) -> None:
    rows = task.tunable("rows")
    Yp = task.partition(Y, by="rows", tile=rows)
    Xp = task.partition(X, by="rows", tile=rows)
    for i in task.parallel_range(Yp.shape[0]):
        task.launch(copy, Yp[i, 0], Xp[i, 0])


def arrays() -> tuple[Any, Any]:
    return np.zeros((20, 4), "f4"), np.ones((20, 4), "f4")


def test_a_tunable_that_no_task_asks_for_is_refused_before_anything_runs() -> None:
    Y, X = arrays()
    with pytest.raises(eas.CompileError, match="`main` asks for no tunable `row`") as caught:
        main(Y, X, row=3)
    assert caught.value.diagnostics[0].help == ("did you mean `rows`?",)
    assert not Y.any()


def test_a_tunable_that_is_no_integer_is_refused_by_its_name() -> None:
    value: Any = "x"
    with pytest.raises(TypeError, match="the tunable `rows` is 'x', which is no integer"):
        main(*arrays(), rows=value)


def test_a_tunable_that_is_not_given_is_16_in_numpy() -> None:
    Y, X = arrays()
    main(Y, X)
    np.testing.assert_array_equal(Y, X)


def test_a_tunable_without_a_value_is_not_taken_for_one_that_has_one(tmp_path: Path) -> None:
    with pytest.raises(eas.CompileError) as caught:
        make(tmp_path, LOGIC, host("cpu", "tunables: {block_m: 8}")).build(M=16, N=16)
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.message == "the tunable `block_n` has no value"
    assert diagnostic.help == (
        "give it one, here or where it is called: `tunables: {block_n: 16}`",
    )


def test_a_tunable_of_zero_is_shown_at_its_value(tmp_path: Path) -> None:
    mapping = host("cpu", "tunables: {block_m: 8, block_n: 0}")
    with pytest.raises(eas.CompileError) as caught:
        make(tmp_path, LOGIC, mapping).build(M=16, N=16)
    [diagnostic] = caught.value.diagnostics
    [line] = [each for each in mapping.splitlines() if "block_n" in each]
    assert line[diagnostic.loc.column :].startswith("0}")
