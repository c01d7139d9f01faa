"""One task at several launch sites, with other shapes at each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eas.septran.flat.nodes import Alloc
from eas.septran.logic.loading import load_logic
from tests.septran.small import GRID, HEAD, host, make, on_every_machine

CHAIN = """
@task.define(leaf=True)
def product(C, A, B):
    C[...] = 0.0
    task.call_primitive("gemm", C, A, B)


@task.define
def block(C, A, B):
    task.launch(product, C, A, B)


@task.define
def main(E, A, B, D):
    t = task.local("t", (A.shape[0], B.shape[1]))
    task.launch(block, t, A, B)
    task.launch(block, E, t, D)
"""
CHAIN_MAPPING = """\
machine: {machine}
entrypoint: host
task_mappings:
  host: {{task_name: main, proc: HOST, locals: {{t: GLOBAL}}, calls: {{block: block}}}}
  block: {{task_name: block, proc: {proc}}}
"""


@on_every_machine
def test_a_task_multiplies_matrices_of_other_shapes_at_its_second_site(
    machine: str, tmp_path: Path
) -> None:
    operator = make(tmp_path, CHAIN, CHAIN_MAPPING.format(machine=machine, proc=GRID[machine]))
    source = np.random.default_rng(0)
    shapes = ((5, 7), (7, 9), (9, 3))
    a, b, d = (source.standard_normal(shape).astype("f4") for shape in shapes)
    e = np.full((5, 3), np.nan, "f4")
    operator(e, a, b, d)
    assert np.abs(e - a @ b @ d).max() < 1e-4


def test_the_sizes_at_two_sites_have_names_of_their_own(tmp_path: Path) -> None:
    operator = make(tmp_path, CHAIN, CHAIN_MAPPING.format(machine="cpu", proc="BLOCK"))
    assert operator.size_names() == {
        "E": ("M", "N"),
        "A": ("M", "K"),
        "B": ("K", "N2"),
        "D": ("N2", "N"),
    }


LEAF_TWICE = """
@task.define(leaf=True)
def double(Y, X):
    Y[...] = X + X


@task.define(shapes="Y[M,N] X[M,N] V[K] W[K]")
def main(Y, X, V, W):
    task.launch(double, Y, X)
    task.launch(double, V, W)
"""


@on_every_machine
def test_a_leaf_takes_matrices_at_one_site_and_vectors_at_another(
    machine: str, tmp_path: Path
) -> None:
    x, w = np.arange(15, dtype="f4").reshape(3, 5), np.arange(4, dtype="f4")
    y, v = np.zeros_like(x), np.zeros_like(w)
    make(tmp_path, LEAF_TWICE, host(machine))(y, x, v, w)
    assert (y == 2 * x).all() and (v == 2 * w).all()


BLOCK_SIZES = """
@task.define(leaf=True)
def double(Y, X):
    Y[...] = X + X


@task.define
def tiles(Y, X):
    Yp = task.partition(Y, by="blocks", shape_from="Y")
    Xp = task.partition(X, by="blocks", shape_from="Y")
    for i, j in task.parallel_range(Yp.shape):
        task.launch(double, Yp[i, j], Xp[i, j])


@task.define(shapes="Y[M,N] X[M,N] V[K,L] W[K,L]")
def main(Y, X, V, W):
    task.launch(tiles, Y, X)
    task.launch(tiles, V, W)
"""
BLOCK_SIZES_MAPPING = """\
machine: cpu
entrypoint: host
task_mappings:
  host:
    task_name: main
    proc: HOST
    tunables: {block_size_M: 4, block_size_N: 8, block_size_K: 2, block_size_L: 16}
    calls: {tiles: tiles}
  tiles: {task_name: tiles, proc: HOST}
"""


def test_block_sizes_are_those_of_the_site(tmp_path: Path) -> None:
    flat = make(tmp_path, BLOCK_SIZES, BLOCK_SIZES_MAPPING).flat(M=16, N=16, K=16, L=16)
    grids = [[extent.value for _, extent in kernel.grid] for kernel in flat.kernels]
    assert grids == [[4, 2], [8, 1]]


@pytest.mark.parametrize("text", [CHAIN, LEAF_TWICE])
def test_a_logic_with_two_sites_runs_on_numpy_arrays_at_once(text: str, tmp_path: Path) -> None:
    file = tmp_path / "eager_logic.py"
    file.write_text(HEAD + text)
    main = load_logic(file).tasks["main"]
    if text is CHAIN:
        arrays = [np.zeros((2, 5), "f4"), *(np.ones(s, "f4") for s in ((2, 3), (3, 4), (4, 5)))]
        main(*arrays)
        assert (arrays[0] == 12).all()
    else:
        y, v = np.zeros((2, 3), "f4"), np.zeros(4, "f4")
        main(y, np.ones_like(y), v, np.ones_like(v))
        assert (y == 2).all() and (v == 2).all()


LEAF_ENTRY = """
@task.define(leaf=True)
def main(C, A, B):
    C[...] = 0.0
    task.call_primitive("gemm", C, A, B)
"""
LEAF_MAPPINGS = {
    "cpu": "proc: BLOCK, mems: {C: REGISTER, A: SHARED, B: SHARED}",
    "apple_gpu": "proc: BLOCK, mems: {C: REGISTER, A: SHARED}",
    "awesomedsa": "proc: CORE, mems: {C: ACC, A: SPM, B: SPM}",
}


@on_every_machine
@pytest.mark.parametrize("is_copied", [False, True])
def test_a_leaf_can_be_the_entry_task(machine: str, is_copied: bool, tmp_path: Path) -> None:
    mapping = host(machine)
    if is_copied:
        mapping = mapping.replace("proc: HOST", LEAF_MAPPINGS[machine])
    source = np.random.default_rng(0)
    a, b = source.standard_normal((8, 16)).astype("f4"), source.standard_normal((16, 8))
    c = np.full((8, 8), np.nan, "f4")
    operator = make(tmp_path, LEAF_ENTRY, mapping)
    operator(c, a, b.astype("f4"))
    assert np.abs(c - a @ b).max() < 1e-4
    [kernel] = operator.flat(M=8, N=8, K=16).kernels
    assert any(isinstance(stmt, Alloc) for stmt in kernel.body) is is_copied


CONDITION = """
@task.define(leaf=True)
def add(Y, X):
    Y[...] = Y + X


@task.define
def block(Y, X):
    task.launch(add, Y, X)


@task.define(shapes="Y[M,N] X[M,N]")
def main(Y, X):
    Yp = task.partition(Y, by="rows", tile=4)
    Xp = task.partition(X, by="rows", tile=4)
    if Yp.shape[0] > 1:
        task.launch(block, Yp[1, 0], Xp[1, 0])
    task.launch(add, Yp[0, 0], Xp[0, 0])
"""


@pytest.mark.parametrize("rows", [4, 8])
def test_an_instance_may_be_for_other_sizes(rows: int, tmp_path: Path) -> None:
    mapping = host("cpu", "calls: {block: block}") + "  block: {task_name: block, proc: BLOCK}\n"
    y, x = np.ones((rows, 3), "f4"), np.ones((rows, 3), "f4")
    make(tmp_path, CONDITION, mapping)(y, x)
    assert (y == 2).all()
