"""Which parallel loops are axes of a grid, of which there are three."""

from __future__ import annotations

import numpy as np
import pytest

from eas.septran.operators import Operator, load
from tests.septran.operators import FOLDER

CONV = FOLDER / "conv2d"


def conv2d(machine: str) -> Operator:
    return load(CONV / "conv2d_logic.py", CONV / f"conv2d.{machine}.map.yaml")


def grid_of(operator: Operator, *sizes: int) -> dict[str, int]:
    """Its loops are over images, rows, columns and outputs, in tiles of 1, 4, 16 and 16."""
    images, rows, columns, outputs = sizes
    [kernel] = operator.flat(N=images, P=rows, Q=columns, O=outputs, C=8, R=3, S=3).kernels
    return {name: extent.value for name, extent in kernel.grid}


def test_of_four_parallel_loops_the_first_three_are_axes() -> None:
    grid = grid_of(conv2d("apple_gpu"), 2, 8, 32, 48)
    assert grid == {"n": 2, "i": 2, "j": 2}


def test_a_loop_of_a_single_trip_takes_no_axis_from_another() -> None:
    operator = conv2d("apple_gpu")
    assert grid_of(operator, 1, 8, 32, 48) == {"i": 2, "j": 2, "k": 3}
    assert grid_of(operator, 1, 8, 16, 48) == {"i": 2, "k": 3}
    assert grid_of(operator, 1, 4, 16, 16) == {"n": 1, "i": 1, "j": 1}


@pytest.mark.parametrize("machine", ["cpu", "awesomedsa"])
def test_the_result_is_that_of_the_tasks(machine: str) -> None:
    operator, random = conv2d(machine), np.random.default_rng(0)
    x, w = (random.standard_normal(s).astype("f4") for s in ((1, 10, 10, 5), (3, 3, 5, 70)))
    y, expected = np.zeros((1, 8, 8, 70), "f4"), np.zeros((1, 8, 8, 70), "f4")
    operator(y, x, w)
    operator.entry(expected, x, w)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)
