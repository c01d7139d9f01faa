"""Calls of operators: what is bound for one is kept for the next, and arrays may have strides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from eas import ir_functions, septran
from tests.septran.operators import FOLDER

GEMM = FOLDER / "gemm"
Array = np.ndarray[Any, np.dtype[Any]]


@pytest.fixture
def gemm() -> septran.Operator:
    return septran.load(GEMM / "gemm_logic.py", GEMM / "gemm.cpu.map.yaml")


def numbers(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).integers(-3, 4, shape).astype("f4")


def test_later_calls_take_the_fast_path(
    gemm: septran.Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow: list[object] = []
    launch_on = ir_functions.launch_on

    def counted(*arguments: Any) -> None:
        slow.append(arguments[0])
        launch_on(*arguments)

    monkeypatch.setattr(ir_functions, "launch_on", counted)
    for _ in range(3):
        a, b, c = numbers(17, 9), numbers(9, 20), np.ones((17, 20), "f4")
        gemm(c, a, b)
        np.testing.assert_array_equal(c, a @ b)
    assert slow == ["cpu"]


def test_a_call_with_other_shapes_or_dtypes_is_built_for_them(gemm: septran.Operator) -> None:
    for m, dtype in ((16, "f4"), (24, "f4"), (24, "f2"), (16, "f4")):
        a, b, c = numbers(m, 8).astype(dtype), numbers(8, 16).astype(dtype), np.ones((m, 16), dtype)
        gemm(c, a, b)
        np.testing.assert_array_equal(c, a @ b)


def test_arrays_may_have_strides_and_inputs_may_be_read_only(gemm: septran.Operator) -> None:
    wide = np.ones((17, 40), "f4")
    a, b, c = numbers(9, 17).T, np.broadcast_to(numbers(20), (9, 20)), wide[:, ::2]
    gemm(c, a, b)
    np.testing.assert_array_equal(c, a @ b)
    np.testing.assert_array_equal(wide[:, 1::2], 1)
