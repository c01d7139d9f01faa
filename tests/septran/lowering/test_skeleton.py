"""A first mapping for a logic: legal for any sizes that fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import eas
from eas.septran.files import load_machine
from eas.septran.files.writing import to_yaml
from eas.septran.logic.loading import load_logic
from eas.septran.lowering.skeleton import make_skeleton
from eas.septran.operators import Operator, load

NORMALIZE_AND_PROJECT = """
from eas import mk
from eas import task_lang as task


@task.define(leaf=True)
def normalize(H, X, G):
    squares = mk.sum(X * X, axis=1) / X.shape[1]
    H[...] = X * mk.rsqrt(squares + 1e-5)[:, None] * G[None, :]


@task.define(leaf=True)
def clear(Y):
    Y[...] = 0.0


@task.define(leaf=True)
def project(Y, H, W):
    Y[...] += H @ W


@task.define
def block(Y, X, G, W):
    depth = task.tunable("depth")
    normal = task.local("H", X.shape, dtype=X.dtype)
    Hp = task.partition(normal, by="blocks", tile=(X.shape[0], depth))
    Wp = task.partition(W, by="blocks", tile=(depth, W.shape[1]))
    task.launch(normalize, normal, X, G)
    task.launch(clear, Y)
    for p in task.sequential_range(Hp.shape[1]):
        task.launch(project, Y, Hp[0, p], Wp[p, 0])


@task.define(shapes="Y[M,N] X[M,K] G[K] W[K,N]")
def host(Y, X, G, W):
    m, n = task.tunable("rows"), task.tunable("columns")
    Yp = task.partition(Y, by="blocks", tile=(m, n))
    Xp = task.partition(X, by="rows", tile=m)
    Wp = task.partition(W, by="blocks", tile=(W.shape[0], n))
    for i, j in task.parallel_range(Yp.shape):
        task.launch(block, Yp[i, j], Xp[i, 0], G, Wp[0, j])
"""


def first(folder: Path, machine: str, change: tuple[str, str] = ("", "")) -> Operator:
    logic, mapping = folder / "rms_logic.py", folder / "rms.map.yaml"
    logic.write_text(NORMALIZE_AND_PROJECT, "utf-8")
    text = to_yaml(make_skeleton(load_logic(logic).tasks, load_machine(machine)))
    mapping.write_text(text.replace(*change), "utf-8")
    return load(logic, mapping, checked=True)


@pytest.mark.parametrize("machine", ["cpu", "apple_gpu", "awesomedsa"])
def test_a_local_tensor_that_is_cut_into_tiles_lies_in_memory(machine: str, tmp_path: Path) -> None:
    make = np.random.default_rng(0).standard_normal
    x, g, w = (make(shape).astype("f4") for shape in ((37, 70), (70,), (70, 45)))
    y = np.full((37, 45), np.nan, "f4")
    first(tmp_path, machine)(y, x, g, w)
    normal = x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * g
    np.testing.assert_allclose(y, normal @ w, rtol=1e-4, atol=1e-4)


def test_a_local_tensor_in_registers_that_is_cut_is_shown_in_the_mapping(tmp_path: Path) -> None:
    operator = first(tmp_path, "cpu", ("H: SHARED", "H: REGISTER"))
    with pytest.raises(eas.CompileError) as caught:
        operator.check(M=37, N=45, K=70)
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.code == "S701"
    assert diagnostic.message == "parts of `H` are used, and in REGISTER it is one value"
    assert diagnostic.loc.source.line(diagnostic.loc.line).strip() == "locals: {H: REGISTER}"


VARIANTS = """
from eas import task_lang as task


@task.define(leaf=True)
def clear(C):
    C[...] = 0.0


@task.define(leaf=True)
def add(C, A, B):
    C[...] += A @ B


@task.define(name="product")
def looped(C, A, B):
    k = task.tunable("depth")
    Ap, Bp = task.partition(A, tile=(A.shape[0], k)), task.partition(B, by="rows", tile=k)
    task.launch(clear, C)
    task.launch(add, C, Ap[0, :], Bp[:, 0])


@task.define(name="product")
def at_once(C, A, B):
    task.launch(clear, C)
    task.launch(add, C, A, B)


@task.define
def twice(C, A, B):
    T = task.local("T", (A.shape[0], B.shape[1]))
    task.launch("product", T, A, B)
    task.launch("product", C, T, B)


@task.define(shapes="C[M,N] A[M,N] B[N,N]")
def host(C, A, B):
    Cp, Ap = (
        task.partition(C, by="rows", tile=task.tunable("rows")),
        task.partition(A, by="rows", tile=task.tunable("rows")),
    )
    for i in task.parallel_range(Cp.shape[0]):
        task.launch(twice, Cp[i, 0], Ap[i, 0], B)
"""


@pytest.mark.parametrize("overlay", ["{}", "{mine: {task_name: at_once}}"])
def test_of_variants_one_is_called_and_what_it_cuts_lies_in_memory(
    overlay: str, tmp_path: Path
) -> None:
    logic, mapping = tmp_path / "two_logic.py", tmp_path / "two.map.yaml"
    logic.write_text(VARIANTS, "utf-8")
    mapping.write_text(f"machine: cpu\ntask_mappings: {overlay}\n", "utf-8")
    operator = load(logic, mapping)
    wanted = ("host", "twice", "looped" if overlay == "{}" else "mine")
    assert tuple(operator.mapping.task_mappings) == wanted
    make = np.random.default_rng(0).standard_normal
    a, b = make((37, 21)).astype("f4"), make((21, 21)).astype("f4")
    c = np.empty_like(a)
    operator(c, a, b)
    np.testing.assert_allclose(c, a @ b @ b, rtol=1e-4, atol=1e-4)
