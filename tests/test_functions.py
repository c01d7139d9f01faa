"""Functions of the IR that another front end has made: compiled and launched, again and again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import ir_functions
from eas.ir import nodes as ir
from eas.ir.builder import Builder
from eas.ir.types import F32, I32, Pointer
from eas.support.location import NOWHERE, SourceName

Array = np.ndarray[Any, np.dtype[Any]]
BLOCK = 8


def double() -> eas.CompiledKernel:
    """`y[i] = x[i] + x[i]`, eight elements per program."""
    build = Builder()
    y, x = (build.value(Pointer(F32, "device"), name) for name in "yx")
    start = build.compute("mul", build.compute("program_id", axis=0), build.constant(BLOCK, I32))
    first = build.compute("splat", start, shape=(BLOCK,))
    at = build.compute("add", first, build.compute("arange", start=0, size=BLOCK))
    found = build.load(x, at)
    build.store(y, at, build.compute("add", found, found))
    build.emit(ir.Yield((), NOWHERE))
    body = ir.Region((), tuple(build.ops))
    params = (ir.Param(y), ir.Param(x))
    return eas.compile_function(ir.Function("double", params, body, SourceName("double.flat")))


def arrays(elements: int) -> tuple[Array, Array]:
    return np.zeros(elements, "f4"), np.arange(elements, dtype="f4")


def count_slow_launches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    slow: list[str] = []
    launch_on = ir_functions.launch_on

    def counted(*arguments: Any) -> None:
        slow.append(arguments[0])
        launch_on(*arguments)

    monkeypatch.setattr(ir_functions, "launch_on", counted)
    return slow


def test_a_function_is_launched_by_names() -> None:
    y, x = arrays(32)
    eas.launch_function(double(), {"x": x, "y": y}, (4,))
    np.testing.assert_array_equal(y, x + x)


def test_later_launches_take_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = count_slow_launches(monkeypatch)
    launch = eas.FunctionLauncher(double(), (4,))
    for _ in range(3):
        y, x = arrays(32)
        launch(y, x)
        np.testing.assert_array_equal(y, x + x)
    assert slow == ["cpu"]


def test_each_launch_decides_whether_it_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = count_slow_launches(monkeypatch)
    launch = eas.FunctionLauncher(double(), (4,))
    y, x = arrays(40)
    launch(y, x)
    with eas.checked(False):
        launch(y, x)
        launch(y, x)
    assert slow == ["cpu", "cpu"], "one slow launch with checks, and one without"


def test_the_fast_path_finds_accesses_outside_of_arrays() -> None:
    launch = eas.FunctionLauncher(double(), (4,))
    launch(*arrays(32))
    with pytest.raises(eas.KernelError, match=r"`x`"):
        launch(*arrays(31))


def test_arrays_that_are_not_contiguous_are_refused_in_every_launch() -> None:
    launch = eas.FunctionLauncher(double(), (4,))
    y, x = arrays(64)
    launch(y[:32], x[:32])
    with pytest.raises(eas.LaunchError, match="x"):
        launch(y[:32], x[::2])
