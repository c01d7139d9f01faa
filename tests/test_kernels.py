"""Every kernel of the corpus: its IR and its MSL as snapshots, its results against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from eas.testing import stored_text
from tests.kernels.case import Arguments, Array, Case

FOLDER = Path(__file__).parent / "kernels"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in {"__init__", "case"})
every_kernel = pytest.mark.parametrize("name", NAMES)
SnapshotCheck = Callable[[str, str], None]


def case_of(name: str) -> Case:
    return import_module(f"tests.kernels.{name}").CASE


@every_kernel
def test_metal(name: str, metal_snapshot: SnapshotCheck) -> None:
    case = case_of(name)
    metal_snapshot(name, stored_text(case.kernel.compile(**case.arguments())))


@every_kernel
def test_ir(name: str, ir_snapshot: SnapshotCheck) -> None:
    case = case_of(name)
    ir_snapshot(name, case.kernel.to_ir(**case.arguments()))


@every_kernel
def test_the_interpreter_agrees_with_the_reference(name: str) -> None:
    case = case_of(name)
    arguments = case.arguments()
    expected = arrays_of(case.arguments()) | case.reference(**case.arguments())
    launch = case.kernel if case.grid is None else case.kernel[case.grid]
    launch(**arguments, _backend="interpret")
    for array, result in arrays_of(arguments).items():
        compare(array, result, expected[array], case.tolerance)


def arrays_of(arguments: Arguments) -> dict[str, Array]:
    return {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}


def compare(name: str, result: Array, expected: Array, tolerance: float) -> None:
    if tolerance and result.dtype.kind == "f":
        scale = np.abs(expected[np.isfinite(expected)]).max()
        np.testing.assert_allclose(
            result, expected, rtol=0, atol=tolerance * scale, err_msg=name, strict=False
        )
    else:
        np.testing.assert_array_equal(result, expected, err_msg=name, strict=True)
