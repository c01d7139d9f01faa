"""Checks in the Metal text: planted memory bugs are reported, and nothing outside is touched.

`EAS_EVERY_PLANTED=1 pytest tests/metal/test_checks.py` takes every planted bug.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

import eas
from tests.planted.case import Planted
from tests.test_planted import CASES

pytestmark = pytest.mark.usefixtures("any_gpu")

STEP = 1 if os.environ.get("EAS_EVERY_PLANTED") else 12


def is_for_metal(case: object) -> bool:
    """Metal has no f64."""
    assert isinstance(case, Planted)
    values = case.arguments.values()
    return all(value.dtype != np.float64 for value in values if isinstance(value, np.ndarray))


FOR_METAL = [param for param in CASES if is_for_metal(param.values[1])]
some_cases = pytest.mark.parametrize(("module", "case", "line"), FOR_METAL[::STEP])


@some_cases
def test_a_checked_launch_reports_the_bug_at_its_line(
    module: str, case: Planted, line: int
) -> None:
    with eas.checked(), pytest.raises(eas.KernelError) as caught:
        case.launch(case.bug, "metal")
    [found] = caught.value.diagnostics
    assert (found.message.split("`")[1], found.loc.line) == (case.array, line)


@some_cases
def test_a_checked_launch_of_the_twin_reports_nothing(
    module: str, case: Planted, line: int
) -> None:
    with eas.checked():
        arrays = case.launch(case.twin, "metal")
    for name, expected in case.results().items():
        np.testing.assert_array_equal(arrays[name].array, expected, err_msg=name)
