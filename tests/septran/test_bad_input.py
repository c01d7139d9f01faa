"""What is wrong with a call of an operator is said by name, before anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eas import septran
from eas import task_lang as task
from tests.septran.operators import FOLDER

SOFTMAX = FOLDER / "softmax"
MAPPING = """\
machine: {machine}
entrypoint: host
task_mappings:
  host: {{task_name: main, proc: HOST}}
"""


def softmax(**options: Any) -> septran.Operator:
    return septran.load(SOFTMAX / "softmax_logic.py", SOFTMAX / "softmax.cpu.map.yaml", **options)


def test_lists_are_no_arrays() -> None:
    arguments: Any = ([[1.0]], [[1.0]])
    with pytest.raises(TypeError, match="takes NumPy arrays, not list"):
        softmax()(*arguments)


def test_an_unknown_dtype_is_named() -> None:
    with pytest.raises(ValueError, match="there is no dtype `float`"):
        softmax().flat(dtype="float", M=4, N=4)


def test_an_unknown_target_is_named() -> None:
    with pytest.raises(ValueError, match="has no target `nope`: cpu"):
        softmax(target="nope")


@task.define(leaf=True)
def highest(Y, X):
    task.call_primitive("row_max", Y, X)


@task.define(shapes="Y[M] X[M,N]")
def main(Y, X):
    task.launch(highest, Y, X)


@pytest.mark.parametrize("machine", ["cpu", "apple_gpu", "awesomedsa"])
def test_a_maximum_of_integers_begins_with_the_least_one(machine: str, tmp_path: Path) -> None:
    file = tmp_path / "highest.map.yaml"
    file.write_text(MAPPING.format(machine=machine))
    x = np.array([[-7, -3, -9], [-2, -8, -5]], np.int32)
    y = np.zeros(2, np.int32)
    septran.load(main, file)(y, x)
    assert y.tolist() == [-3, -2]
