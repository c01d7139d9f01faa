"""Functions that a leaf does not have are refused, with those that it has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from eas import mk
from eas import task_lang as task
from eas.septran.logic.errors import LogicError

TILE: Any = np.zeros((2, 2), np.float32)


@task.define(leaf=True)
def clear(C: Any) -> None:
    C[...] = mk.zeros_like(C)


@task.define(leaf=True)
def largest(C: Any) -> None:
    C[...] = mk.maximum(C)  # pyright: ignore[reportCallIssue]


def test_a_function_that_a_leaf_lacks_is_refused_with_those_that_it_has() -> None:
    with pytest.raises(LogicError) as caught:
        clear(TILE)
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.message == "`mk.zeros_like` is no function of a leaf"
    assert diagnostic.help == (
        "a leaf has operators, and of `mk`: abs, exp, exp2, log, sqrt, rsqrt, sin, cos, tanh, erf,"
        " sigmoid, floor, maximum, minimum, pow, sum, max, min, where, arange, cast",
    )


def test_wrong_arguments_of_a_function_are_not_called_a_missing_function() -> None:
    with pytest.raises(LogicError) as caught:
        largest(TILE)
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.message == "`mk.maximum` takes `a`, `b`: `b` is missing"


@task.define(leaf=True)
def below(Y: Any, X: Any) -> None:
    Y[...] = X - mk.max(X, axis=1, keepdims=True)  # pyright: ignore[reportCallIssue]


@task.define(leaf=True)
def centered(Y: Any, X: Any) -> None:
    Y[...] = X - mk.sum(X, axis=1, keep_dims=True) * mk.max(X, axis=0, keep_dims=True)


def test_an_unknown_keyword_is_refused_by_its_name() -> None:
    with pytest.raises(LogicError) as caught:
        below(TILE, TILE)
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.message == "`mk.max` has no parameter `keepdims`"
    assert diagnostic.help == ("did you mean `keep_dims`?",)


def test_keep_dims_keeps_an_axis_of_one() -> None:
    X: Any = np.arange(9, dtype=np.float32).reshape(3, 3)
    Y = np.zeros_like(X)
    centered(Y, X)
    expected = X - X.sum(axis=1, keepdims=True) * X.max(axis=0, keepdims=True)
    np.testing.assert_array_equal(Y, expected)


@task.define(leaf=True)
def renamed(Y: Any, X: Any) -> None:
    Y = X * 2.0  # noqa: F841  # pyright: ignore[reportConstantRedefinition, reportUnusedVariable]


@task.define(leaf=True)
def renamed_twice(Y: Any, X: Any) -> None:
    Y = X * 2.0  # pyright: ignore[reportConstantRedefinition, reportUnusedVariable]
    Y = X * 3.0  # noqa: F841  # pyright: ignore[reportConstantRedefinition, reportUnusedVariable]


@task.define(leaf=True)
def counted(Y: Any, X: Any) -> None:
    y = X * 2.0
    first = y
    y += 1.0
    y -= first / 2.0
    Y[...] = y


@pytest.mark.parametrize("leaf", [renamed, renamed_twice])
def test_a_new_value_for_a_parameter_that_is_not_used_is_refused(leaf: Any) -> None:
    with pytest.raises(LogicError) as caught:
        leaf(TILE, TILE)
    [diagnostic, *_] = caught.value.diagnostics
    assert diagnostic.message == "`Y` is a parameter, and `Y = X * 2.0` writes no elements of it"
    assert diagnostic.help == ("write `Y[...] = X * 2.0`",)


def test_an_augmented_assignment_gives_a_name_a_new_value() -> None:
    X: Any = np.arange(4, dtype=np.float32).reshape(2, 2)
    Y = np.zeros_like(X)
    counted(Y, X)
    np.testing.assert_array_equal(Y, X + 1)


@task.define(leaf=True)
def idle_leaf(Y: Any, X: Any) -> None:
    _ = X * 2.0


@task.define
def idle(Y: Any, X: Any) -> None:
    pass


@pytest.mark.parametrize("called", [idle_leaf, idle])
def test_a_task_that_is_called_and_writes_nothing_is_refused(called: Any) -> None:
    with pytest.raises(LogicError, match="writes none of its arguments"):
        called(TILE, TILE)
