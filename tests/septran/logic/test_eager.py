"""Tasks that are called with arrays: NumPy's results, and each task is read once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from eas import task_lang as task
from eas.septran.logic import eager


@task.define(leaf=True)
def clear(C):
    C[...] = 0.0


@task.define(leaf=True)
def multiply(C, A, B):
    task.call_primitive("gemm", C, A, B)


@task.define
def block(C, A, B):
    k = task.tunable("block_k")
    Ap = task.partition(A, by="blocks", tile=(A.shape[0], k))
    Bp = task.partition(B, by="blocks", tile=(k, B.shape[1]))
    task.launch(clear, C)
    for p in task.sequential_range(Ap.shape[1]):
        task.launch(multiply, C, Ap[0, p], Bp[p, 0])


@task.define
def gemm(C, A, B):
    m, n = task.tunable("block_m"), task.tunable("block_n")
    Cp = task.partition(C, by="blocks", tile=(m, n))
    Ap = task.partition(A, by="blocks", tile=(m, A.shape[1]))
    Bp = task.partition(B, by="blocks", tile=(B.shape[0], n))
    for i, j in task.parallel_range(Cp.shape):
        task.launch(block, Cp[i, j], Ap[i, 0], Bp[0, j])


@task.define(leaf=True)
def shift(Y, X, start):
    Y[...] = X + start


@task.define
def numbered(Y, X):
    Yp = task.partition(Y, by="rows", tile=4)
    Xp = task.partition(X, by="rows", tile=4)
    for i in task.parallel_range(Xp.shape[0]):
        task.launch(shift, Yp[i, 0], Xp[i, 0], i * 100)


def test_a_task_is_read_once_for_tiles_of_one_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    read_leaf = eager.read_leaf

    def counted(leaf: Any, *others: Any) -> Any:
        read.append(leaf.function_name)
        return read_leaf(leaf, *others)

    monkeypatch.setattr(eager, "read_leaf", counted)
    random = np.random.default_rng(0)
    a, b, c = random.random((64, 64)), random.random((64, 64)), np.zeros((64, 64))
    gemm(c, a, b, block_m=8, block_n=8, block_k=8)
    np.testing.assert_allclose(c, a @ b)
    assert read == ["clear", "multiply"]


@pytest.mark.parametrize("shape", [(17, 9, 30), (1, 1, 1), (8, 8, 8)])
def test_ragged_tiles_are_read_by_themselves(shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    random = np.random.default_rng(0)
    a, b, c = random.random((m, k)), random.random((k, n)), np.full((m, n), np.nan)
    gemm(c, a, b, block_m=8, block_n=8, block_k=8)
    np.testing.assert_allclose(c, a @ b)


def test_each_launch_has_its_own_numbers() -> None:
    x, y = np.arange(20.0).reshape(10, 2), np.zeros((10, 2))
    numbered(y, x)
    np.testing.assert_array_equal(y, x + np.repeat([0, 100, 200], 4)[:10, None])
