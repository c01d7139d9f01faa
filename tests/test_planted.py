"""Kernels with one memory bug each: it is reported where it is, and the correct twin is not."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import eas
from tests.planted.case import Planted, guard
from tests.thorough import sampled, thorough

FOLDER = Path(__file__).parent / "planted"
MODULES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in {"__init__", "case"})
BACKENDS = ("interpret", "cpu")


def cases_of(module: str) -> list[tuple[Planted, int]]:
    """The cases of a module, and the line of each with the bug: they come in the same order."""
    lines = (FOLDER / f"{module}.py").read_text("utf-8").splitlines()
    marked = [number for number, line in enumerate(lines, 1) if "# BUG" in line]
    values = vars(import_module(f"tests.planted.{module}")).values()
    cases = [value for value in values if isinstance(value, Planted)]
    return list(zip(cases, marked, strict=True))


CASES = [
    pytest.param(module, case, line, id=f"{module}-{case.kernel.name}")
    for module in MODULES
    for case, line in cases_of(module)
]
TWINS = [
    pytest.param(
        *param.values,
        backend,
        id=f"{param.id}-{backend}",
        marks=() if number % len(BACKENDS) == turn else thorough,
    )
    for number, param in enumerate(CASES)
    for turn, backend in enumerate(BACKENDS)
]
every_case = pytest.mark.parametrize(("module", "case", "line"), CASES)
every_backend = pytest.mark.parametrize("backend", BACKENDS)


@every_backend
@every_case
@sampled(5)
def test_the_bug_is_reported_at_its_line(
    module: str, case: Planted, line: int, backend: str
) -> None:
    with pytest.raises(eas.KernelError) as caught:
        case.launch(case.bug, backend)
    [found] = caught.value.diagnostics
    place = Path(found.loc.source.path), found.loc.line
    assert (found.code, found.message.split("`")[1], place) == (
        case.code_on(backend),
        case.array,
        (FOLDER / f"{module}.py", line),
    )


@pytest.mark.parametrize(("module", "case", "line", "backend"), TWINS)
@sampled(5)
def test_the_twin_gives_the_right_result(
    module: str, case: Planted, line: int, backend: str
) -> None:
    arrays = case.launch(case.twin, backend)
    for name, expected in case.results().items():
        np.testing.assert_array_equal(arrays[name].array, expected, err_msg=name)


@pytest.mark.parametrize("offset", [-1, 1, 9])
def test_a_write_around_an_array_is_noticed(offset: int) -> None:
    guarded = guard(np.ones(16, "f4")[:9:2])
    assert guarded.is_intact()
    start = guarded.array.ctypes.data - guarded.buffer.ctypes.data
    guarded.buffer[start + 4 * offset] = 0
    assert not guarded.is_intact()
