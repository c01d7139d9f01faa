"""The pass `lane-continues`: no lane of a uniform loop is a trip ahead of others."""

from __future__ import annotations

from typing import Any

import pytest

import eas
from eas import mk
from eas.ir.analysis import divergences
from eas.ir.lowering.lane_continues import without_lane_continues
from eas.ir.nodes import Continue, Function, walk
from eas.ir.stages import CORE
from eas.ir.verify import verify


@eas.kernel
def in_a_branch(x, out, n):
    t = mk.arange(0, 8)
    a = mk.load(x, t)
    total = mk.zeros((8,), mk.i32)
    for i in range(n):
        if a == i:
            continue
        total += i
    mk.store(out, t, total)


@eas.kernel
def in_the_else_of_a_loop(x, out, n):
    t = mk.arange(0, 8)
    a = mk.load(x, t)
    total = mk.zeros((8,), mk.i32)
    for i in range(n):
        for j in range(2):
            if a == j:
                break
        else:
            continue
        total += i
    mk.store(out, t, total)


def count_continues(function: Function) -> int:
    return sum(isinstance(op, Continue) for op in walk(function.body))


KERNELS = [in_a_branch, in_the_else_of_a_loop]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_a_continue_of_some_lanes_is_removed_from_a_uniform_loop(kernel: Any) -> None:
    before = kernel.compile("*i32", "*i32", "i32").function
    after = without_lane_continues(before, set(divergences(before)))
    verify(after, CORE)
    assert (count_continues(before), count_continues(after)) == (1, 0)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_it_stays_in_a_divergent_loop(kernel: Any) -> None:
    before = kernel.compile("*i32", "*i32", "i32").function
    assert without_lane_continues(before, set()) is before
