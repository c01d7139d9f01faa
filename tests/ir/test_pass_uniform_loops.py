"""The pass `uniform-loops`: loops whose lanes start at different counters, made uniform."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.lowering.uniform_loops import make_loops_uniform
from eas.ir.nodes import For, walk
from eas.ir.passes import relax

LANES = 8


@eas.kernel
def forward(out, first, stop, step):
    t = mk.arange(0, LANES)
    total = mk.zeros((LANES,), mk.i32)
    for i in range(t, stop, LANES):
        total += i
    mk.store(out, t, total)


@eas.kernel
def from_a_first(out, first, stop, step):
    t = mk.arange(0, LANES)
    total = mk.zeros((LANES,), mk.i32)
    for i in range(first + t, stop, LANES):
        total += i
    mk.store(out, t, total)


@eas.kernel
def by_a_step(out, first, stop, step):
    t = mk.arange(0, LANES)
    total = mk.zeros((LANES,), mk.i32)
    for i in range(t, stop, step):
        total += i
    mk.store(out, t, total)


@eas.kernel
def left_early(out, first, stop, step):
    t = mk.arange(0, LANES)
    total = mk.zeros((LANES,), mk.i32)
    for i in range(t, stop, LANES):
        if i > 20:
            break
        total += i
    mk.store(out, t, total)


@eas.kernel
def apart(out, first, stop, step):
    t = mk.arange(0, LANES)
    total = mk.zeros((LANES,), mk.i32)
    for i in range(t * 2, stop, LANES):
        total += i
    mk.store(out, t, total)


ALL = [forward, from_a_first, by_a_step, left_early, apart]


def is_uniform(kernel: Any) -> bool:
    function = relax(kernel.compile("*i32", "i32", "i32", "i32").function)
    [loop] = [op for op in walk(make_loops_uniform(function).body) if isinstance(op, For)]
    return not loop.start.shape


def test_lanes_that_start_side_by_side_share_a_loop() -> None:
    assert is_uniform(forward)


# A `first` may be negative and a `step` may be, and counters beyond the end might wrap.
@pytest.mark.parametrize("kernel", ALL[1:], ids=lambda kernel: kernel.name)
def test_other_loops_are_left_alone(kernel: Any) -> None:
    assert not is_uniform(kernel)


@pytest.mark.parametrize("numbers", [(0, 37, 3), (-5, 20, 8), (3, -20, -4), (0, 0, 1)])
@pytest.mark.parametrize("kernel", ALL, ids=lambda kernel: kernel.name)
def test_the_cpu_computes_what_the_interpreter_does(
    kernel: Any, numbers: tuple[int, int, int]
) -> None:
    found: list[list[int]] = []
    for backend in ("interpret", "cpu"):
        out = np.zeros(LANES, np.int32)
        kernel(out, *numbers, _grid=(1,), _backend=backend)
        found.append(out.tolist())
    assert found[0] == found[1]
