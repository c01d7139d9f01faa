"""Promises beyond the table: only the interpreter checks them."""

from __future__ import annotations

import numpy as np
import pytest

import eas
from eas import mk
from tests.frontend.running import codes_of


@eas.kernel
def halve(x, out, n, SIZE: eas.constexpr):
    i = mk.arange(0, SIZE)
    mk.assume(n > 0)
    count = mk.multiple_of(n, 4)
    mk.store(out, i, mk.cast(mk.load(x, i), mk.i32) % count, i < count)


@pytest.mark.parametrize("n", [-8, 7])
def test_the_interpreter_reports_a_promise_that_is_broken(n: int) -> None:
    x, out = np.arange(20, dtype=np.float32), np.zeros(20, np.int32)
    with pytest.raises(eas.KernelError, match="an assumption does not hold"):
        halve[(1,)](x, out, n, SIZE=20, _backend="interpret")


@eas.kernel
def of_a_factor(x, FACTOR: eas.constexpr):
    mk.store(x, mk.multiple_of(mk.load(x, 0), FACTOR), 1)


@pytest.mark.parametrize("factor", [0, -4])
def test_a_factor_below_one_is_refused(factor: int) -> None:
    assert codes_of(of_a_factor.fn, "*i32", FACTOR=factor) == ["E0705"]


def test_metal_does_not_check_promises() -> None:
    assert "report" not in halve.to_msl("*f32", "*i32", "i32", SIZE=20)
