"""What is lowered is verified before it runs: tiles lie inside of their tensors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import eas
from eas import septran
from eas import task_lang as task

MAPPING = """\
machine: {machine}
entrypoint: host
task_mappings:
  host: {{task_name: shifted, proc: HOST}}
"""


@task.define(leaf=True)
def copy(Y, X):
    Y[...] = X


@task.define(shapes="Y[M,N] X[M,N]")
def shifted(Y, X):
    Yp = task.partition(Y, by="rows", tile=8)
    Xp = task.partition(X, by="rows", tile=8)
    for i in task.parallel_range(Yp.shape[0]):
        task.launch(copy, Yp[i - 1, 0], Xp[i, 0])


@pytest.mark.parametrize("machine", ["cpu", "apple_gpu", "awesomedsa"])
def test_a_tile_before_its_tensor_is_refused_before_anything_runs(
    machine: str, tmp_path: Path
) -> None:
    file = tmp_path / "shifted.map.yaml"
    file.write_text(MAPPING.format(machine=machine))
    operator = septran.load(shifted, file)
    y = np.zeros((16, 4), np.float32)
    with pytest.raises(eas.CompileError) as caught:
        operator(y, np.ones_like(y))
    assert [each.code for each in caught.value.diagnostics] == ["S807"]
    assert not y.any()
