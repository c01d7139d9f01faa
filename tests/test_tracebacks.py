"""What a traceback shows of an error: the user's call, and not the library below it."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

import eas


@eas.kernel
def fill(x, value):
    x[0] = value


@eas.kernel
def wrong(x):
    x[0] = missing  # pyright: ignore[reportUndefinedVariable]  # noqa: F821


@eas.kernel
def outside(x):
    x[9] = 1.0


def frames_below_the_call(error: BaseException) -> list[str]:
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)][1:]


def test_a_launch_error_shows_the_call_only() -> None:
    with pytest.raises(eas.LaunchError) as found:
        fill(np.zeros(1, "f4"), "text", _grid=1)
    assert frames_below_the_call(found.value) == ["__call__"]
    assert found.value.__cause__ is None
    assert found.value.__suppress_context__


def test_a_compile_error_shows_no_frames_of_the_compiler() -> None:
    with pytest.raises(eas.CompileError) as found:
        wrong.to_msl("*f32")
    assert frames_below_the_call(found.value) == ["to_msl", "compile"]


def test_a_report_of_a_kernel_shows_the_call_only() -> None:
    with pytest.raises(eas.KernelError) as found:
        outside(np.zeros(1, "f4"), _grid=1)
    assert frames_below_the_call(found.value) == ["__call__"]


def test_a_fault_of_the_compiler_keeps_its_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eas.frontend_ast.lower.lower_branch", None)
    with pytest.raises(eas.CompileError, match="E0900") as found:
        fill.to_msl("*f32", "f32")
    assert isinstance(found.value.__cause__, TypeError)
