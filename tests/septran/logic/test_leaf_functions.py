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
    assert diagnostic.message == "`mk.maximum` takes other arguments in a leaf"
