"""Integers and floats in one leaf: as NumPy says, or refused. Nothing is truncated silently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eas.septran.logic.loading import load_logic
from tests.septran.small import HEAD, codes, host, make, on_every_machine, refusal
from tests.thorough import sampled

LOGIC = """
@task.define(leaf=True)
def leaf(Y, X):
    {statement}


@task.define(shapes="Y[M,N] X[M,N]")
def main(Y, X):
    task.launch(leaf, Y, X)
"""


def case(y: str, x: str) -> list[np.ndarray[Any, Any]]:
    source = np.random.default_rng(0)
    values = source.standard_normal((8, 8)) * 9 if x[0] == "f" else source.integers(0, 9, (8, 8))
    return [np.zeros((8, 8), y), values.astype(x)]


REFUSED = {
    "a float": ("i4", "f4", "Y[...] = X", "f32 is stored in a tensor of i32"),
    "a part": ("i4", "i4", "Y[...] = X * 0.5", "f32 is stored in a tensor of i32"),
    "added": ("i4", "f4", "Y[...] += X", "f32 is stored in a tensor of i32"),
    "a quotient": ("i4", "i4", "Y[...] = X / 2", "f32 is stored in a tensor of i32"),
    "a literal": ("i4", "i4", "Y[...] = 0.5", "0.5 is no number of i32"),
    "infinity": ("i4", "i4", "Y[...] = 1e999", "inf is no number of i32"),
    "large": ("i4", "i4", "Y[...] = -1e30", "does not fit into i32"),
    "too large": ("i2", "i2", "Y[...] = X + 40000", "40000 does not fit into i16"),
    "negative": ("u4", "u4", "Y[...] = X + -1", "-1 does not fit into u32"),
    "a condition": ("?", "f4", "Y[...] = X", "f32 is stored in a tensor of bool"),
    "no integer": ("u8", "i8", "Y[...] = Y + X", "no integer holds what u64 and i64 hold"),
    "fill": ("i4", "i4", 'task.call_primitive("fill", Y, 0.5)', "0.5 is no number of i32"),
    "copy": ("i4", "f4", 'task.call_primitive("copy", Y, X)', "f32 is stored in a tensor of i32"),
    "exp": ("i4", "i4", 'task.call_primitive("exp", Y, X)', "f32 is stored in a tensor of i32"),
    "mul": ("i4", "f4", 'task.call_primitive("mul", Y, Y, X)', "f32 is stored in a tensor of i32"),
    "negated": ("f4", "f4", "Y[...] = -(X > 0)", "`-(X > 0)` computes with conditions"),
    "compared": ("f4", "f4", "Y[...] = mk.max(X > 0, axis=1)[:, None]", "compares conditions"),
    "a large float": ("f2", "f2", "Y[...] = X * 70000.0", "70000.0 does not fit into f16"),
    "gemm": ("i4", "f4", "Y[...] += X @ X.T", "product of f32 is stored in a tensor of i32"),
}


@on_every_machine
@pytest.mark.parametrize("name", REFUSED)
def test_what_a_dtype_cannot_hold_is_refused(name: str, machine: str, tmp_path: Path) -> None:
    y, x, statement, message = REFUSED[name]
    operator = make(tmp_path, LOGIC.format(statement=statement), host(machine))
    error = refusal(operator, *case(y, x))
    assert codes(error) == ["S804"]
    assert message in str(error)


ALLOWED = {
    "exact literal": ("i4", "i4", "Y[...] = 3.0", lambda y, x: np.full_like(y, 3)),
    "narrower": ("i2", "i4", "Y[...] = X", lambda y, x: x.astype("i2")),
    "power": ("i4", "i4", "Y[...] = X ** 3", lambda y, x: x**3),
    "to a float": ("f4", "i4", "Y[...] = X * 0.5", lambda y, x: x * 0.5),
    "quotient": ("f4", "i4", "Y[...] = X / 4", lambda y, x: x / 4),
    "two integers": ("i8", "u4", "Y[...] = Y - X", lambda y, x: y - x),
    "cast": ("i4", "f4", "Y[...] = mk.cast(X, mk.i32)", lambda y, x: x.astype("i4")),
    "copied": ("f4", "i4", 'task.call_primitive("copy", Y, X)', lambda y, x: x),
    "count": (
        "f4",
        "f4",
        "Y[...] = mk.sum(X > 0, axis=1)[:, None]",
        lambda y, x: np.broadcast_to((x > 0).sum(1)[:, None], y.shape),
    ),
    "sum of small integers": (
        "i4",
        "i1",
        "Y[...] = mk.sum(X * 20, axis=1)[:, None]",
        lambda y, x: np.broadcast_to((x * np.int8(20)).sum(1, dtype="i4")[:, None], y.shape),
    ),
    "added": ("f4", "i4", 'task.call_primitive("add", Y, X, Y)', lambda y, x: x + y),
}


@sampled(4)
@on_every_machine
@pytest.mark.parametrize("name", ALLOWED)
def test_what_fits_is_that_of_numpy(name: str, machine: str, tmp_path: Path) -> None:
    y, x, statement, expected = ALLOWED[name]
    arrays = case(y, x)
    right = expected(*arrays)
    make(tmp_path, LOGIC.format(statement=statement), host(machine))(*arrays)
    assert (arrays[0] == right).all()


@pytest.mark.parametrize("name", ALLOWED)
def test_a_task_on_arrays_gives_the_same(name: str, tmp_path: Path) -> None:
    y, x, statement, expected = ALLOWED[name]
    file = tmp_path / "eager_logic.py"
    file.write_text(HEAD + LOGIC.format(statement=statement))
    arrays = case(y, x)
    right = expected(*arrays)
    load_logic(file).tasks["main"](*arrays)
    assert (arrays[0] == right).all()


ROWS = """
@task.define(leaf=True)
def main(Y, X):
    task.call_primitive("row_sum", Y, X)
"""


@on_every_machine
def test_a_row_sum_of_short_integers_wraps(machine: str, tmp_path: Path) -> None:
    x = np.full((3, 5), 9000, "i2")
    y = np.zeros(3, "i2")
    make(tmp_path, ROWS, host(machine))(y, x)
    assert (y == x.sum(1, dtype="i2")).all()


@on_every_machine
def test_a_row_sum_of_conditions_is_refused(machine: str, tmp_path: Path) -> None:
    operator = make(tmp_path, ROWS, host(machine))
    error = refusal(operator, np.zeros(3, bool), np.zeros((3, 5), bool))
    assert codes(error) == ["S804"]
    assert "rows of conditions are no rows of numbers" in str(error)
