"""Random accesses are reported on the CPU if and only if the interpreter reports them.

For each kernel the smallest array is searched that no access leaves, at either end: there the CPU
reports nothing and computes the same, and one element less is a fault at the same line.
`EAS_FUZZ_BORDERS=5000 uv run pytest tests/cpu/test_borders.py` runs that many kernels.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from math import ceil
from random import Random
from typing import Any

import numpy as np
import pytest

import eas
from tests.fuzz.borders import MOST_LANES, Border
from tests.fuzz.running import load
from tests.planted.case import Array, guard

KERNELS = int(os.environ.get("EAS_FUZZ_BORDERS", "20"))
KERNELS_PER_TEST = 10
FAR = (1 << 32, 1 << 40, -(1 << 40), (1 << 62) - 1, (1 << 63) - 99, -(1 << 63))
WIDE, MIDDLE = 1 << 13, 1 << 12  # an extent, and a shift, for which most kernels have no fault


@pytest.mark.parametrize("number", range(ceil(KERNELS / KERNELS_PER_TEST)))
def test_the_cpu_reports_what_the_interpreter_reports(number: int) -> None:
    for seed in range(number * KERNELS_PER_TEST, (number + 1) * KERNELS_PER_TEST):
        check(Border(Random(seed)), seed)


def check(border: Border, seed: int) -> None:
    kernel = load(border.text)["touch"]
    try:
        launches = launches_of(border, kernel, seed)
    except (eas.CompileError, eas.KernelError):
        return  # shapes that do not fit, or a fault wherever the array is
    for extent, shift in launches:
        expected = run(border, kernel, extent, shift, seed, "interpret")
        found = run(border, kernel, extent, shift, seed, "cpu")
        assert describe(found) == describe(expected), (
            f"seed {seed}, extent {extent}, shift {shift}:\n\n{border.text}"
        )


def launches_of(border: Border, kernel: Any, seed: int) -> list[tuple[int, int]]:
    """Extents and shifts right at the border of what is inside, and one beyond it."""

    def is_inside(extent: int, shift: int) -> bool:
        return not isinstance(run(border, kernel, extent, shift, seed, "interpret"), Fault)

    if not is_inside(WIDE, MIDDLE):
        raise eas.KernelError(())
    extent = smallest(lambda extent: is_inside(extent, MIDDLE), 0, WIDE)
    shift = smallest(lambda shift: is_inside(WIDE, shift), -2 * WIDE, MIDDLE)
    tight = max(extent - MIDDLE + shift, 0)
    pairs = [(extent, MIDDLE), (extent - 1, MIDDLE), (WIDE, shift), (WIDE, shift - 1)]
    far = [(WIDE, by) for by in FAR] if border.is_wide and extent else []
    return [pair for pair in (*pairs, (tight, shift), *far) if pair[0] >= 0]


def smallest(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest number from which on it holds, if it holds for `high`."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high


class Fault(tuple[str, str, int]):
    """The code of a report, the array and the line."""


def run(
    border: Border, kernel: Any, extent: int, shift: int, seed: int, backend: str
) -> Fault | list[Array]:
    """What a launch reports, or what it leaves in its arrays."""
    random = np.random.default_rng(seed)
    shape = list(border.shape(extent))
    shape[border.axis] *= abs(border.step)
    x = random.integers(1, 99, shape).astype(border.dtype)
    x = np.moveaxis(np.moveaxis(x, border.axis, 0)[:: border.step], 0, border.axis)
    index = random.integers(0, 20, 16, dtype="i4")
    arrays = [guard(each) for each in (x, index, np.zeros(MOST_LANES, "i4"))]
    values = [each.array for each in arrays]
    numbers = [int(number) for number in random.integers(0, 9, 2)]
    try:
        by = np.int64(shift) if border.is_wide else shift
        kernel[border.grid](*values, *numbers, by, _backend=backend)
    except eas.KernelError as error:
        [found] = error.diagnostics
        return Fault((found.code, found.message.split("`")[1], found.loc.line))
    finally:
        assert all(each.is_intact() for each in arrays), f"{seed}, {extent}, {shift}"
    return values


def describe(found: Fault | list[Array]) -> object:
    return found if isinstance(found, Fault) else [each.tolist() for each in found]
