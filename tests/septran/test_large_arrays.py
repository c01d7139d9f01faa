"""Arrays of more elements than i32 can count: offsets are i64 then."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.septran.small import RUNNABLE, host, make
from tests.thorough import sampled

LOGIC = """
@task.define(leaf=True)
def leaf(Y, X):
    Y[...] = X + 1


@task.define(shapes="Y[A,N] X[M,N]")
def main(Y, X):
    Yp = task.partition(Y, by="rows", tile=8)
    Xp = task.partition(X, by="rows", tile=8)
    for i in task.parallel_range(2):
        task.launch(leaf, Yp[i, 0], Xp[8388607 * i, 0])
"""


@sampled(3)
@pytest.mark.parametrize("machine", RUNNABLE)
def test_the_last_tile_of_a_large_array_is_read(machine: str, tmp_path: Path) -> None:
    x = np.zeros((2**26, 33), "i1")  # only the pages of the first and the last tile are touched
    x[:8], x[-8:] = 3, np.arange(33)
    y = np.zeros((16, 33), "i1")
    make(tmp_path, LOGIC, host(machine))(y, x)
    assert (y == np.concatenate([x[:8], x[-8:]]) + 1).all()
