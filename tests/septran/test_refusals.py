"""Refusals of what leaves and inner tasks lack say what to write instead."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import eas
from tests.septran.small import host, make
from tests.septran.wrong_logics import INNER, LEAF

IN_LEAVES = {
    "Y[...] = X if X > 0.0 else 0.0": "write `mk.where(X > 0.0, X, 0.0)`",
    "if X > 0.0: Y[...] = X": "choose for each element: `mk.where(X > 0.0, a, b)`",
    "Y[...] = mk.where(0 < X < 0.5, X, 0.0)": "write `(0 < X) & (X < 0.5)`",
    "Y[...] = mk.where(X > 0 and X < 0.5, X, 0.0)": "write `(X > 0) & (X < 0.5)`",
    "Y[...] = mk.where(X > 0 or X < 0.5, X, 0.0)": "write `(X > 0) | (X < 0.5)`",
    "Y[...] = mk.mean(X, axis=1)": "write `mk.sum(x, axis=1) / x.shape[1]`",
    "Y[...] = max(X, 0.0)": "write `mk.maximum(X, 0.0)`",
    "Y[...] = abs(X)": "write `mk.abs`",
    "Y += X": "write `Y[...] += X`",
    "Y[...] = X - mk.max(X, axis=1)": (
        "write `x[:, None]` for the block of [16]: an element for each row"
    ),
    "task.call_primitive('copy', Y, X, fast=True)": (
        "arguments are passed by position: copy(D: w, A: r)"
    ),
}
IN_INNER = {
    "leaf(Y, X)": "write `task.launch(leaf, Y, X)`",
    "task.launch(mk.leaf, Y, X)": "import the task by its name: `from ... import leaf`",
}
CASES = [
    *((LEAF.replace("{leaf}", text), help) for text, help in IN_LEAVES.items()),
    *((INNER.replace("{inner}", text), help) for text, help in IN_INNER.items()),
]


@pytest.mark.parametrize(("text", "help"), CASES, ids=[*IN_LEAVES, *IN_INNER])
def test_a_refusal_says_what_to_write(text: str, help: str, tmp_path: Path) -> None:
    with pytest.raises(eas.CompileError) as caught:
        array = np.zeros((16, 8), "f4")
        make(tmp_path, text, host("cpu")).build(array, array.copy())
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.help == (help,)


def test_blocks_that_do_not_broadcast_are_shown_with_their_own_shapes(tmp_path: Path) -> None:
    text = LEAF.replace("{leaf}", "Y[...] = X - mk.max(X, axis=1)")
    with pytest.raises(eas.CompileError, match=r"blocks of \[16, 8\] and \[16\] do not"):
        make(tmp_path, text, host("cpu")).build(M=16, N=8)


def test_a_product_of_integers_is_refused_with_what_can_be_written(tmp_path: Path) -> None:
    text = """
@task.define(leaf=True)
def main(C, A, B):
    task.call_primitive("gemm", C, A, B)
"""
    C, A = np.zeros((4, 4), "f4"), np.zeros((4, 4), "i4")
    with pytest.raises(eas.CompileError) as caught:
        make(tmp_path, text, host("cpu")).build(C, A, A.copy())
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.help == (
        "add it to a tensor of i32: an argument, or"
        ' `task.local("sum", shape, dtype="i32")` of the task that launches this one',
    )
