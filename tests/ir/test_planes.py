"""Lanes store to several planes of an array without lockstep if a condition keeps them apart."""

from __future__ import annotations

import numpy as np
import pytest

import eas
from eas import mk
from tests.backends import BACKENDS


@eas.kernel
def planes(x, y, n, m, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    if i >= n:
        return
    v = mk.load(y, i)
    if v > 0.0:
        mk.store(x, i, v)
        mk.store(x, 3 * n + i, v)
    mk.store(x, n + i, -v)


@eas.kernel
def planes_in_a_loop(x, y, n, m, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(y, i, mask=i < n)
    if v > 0.0:
        for _ in range(3):
            mk.store(x, i, v, mask=i < n)
            mk.store(x, n + i, -v, mask=i < n)


@eas.kernel
def planes_of_another_size(x, y, n, m, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(y, i, mask=i < n)
    if i < n:
        mk.store(x, i, v)
        mk.store(x, m + i, -v)


@eas.kernel
def planes_with_a_step_back(x, y, n, m, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK) - 1
    v = mk.load(y, i + 1, mask=i + 1 < n)
    if i < n:
        mk.store(x, n + i, v)
        mk.store(x, n + n + i, -v)


@eas.kernel
def planes_of_every_second_element(x, y, n, m, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(y, i, mask=i < n)
    if i < n:
        mk.store(x, 2 * i, v)
        mk.store(x, n + 2 * i, -v)


@eas.kernel
def planes_beyond_a_limit(x, y, n, m, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    v = mk.load(y, i, mask=i < n)
    if i < n:
        v += 1.0
    else:
        mk.store(x, i, v)
        mk.store(x, n + i, -v)


TYPES = ("*f32", "*f32", "i32", "i32")


def is_in_lockstep(kernel: eas.Kernel, target: str) -> bool:
    before = {"metal": "lane-continues", "cpu": "relax-renumber"}[target]
    first, second = (
        kernel.ir_after(name, target, *TYPES, BLOCK=64) for name in (before, "lockstep")
    )
    return first != second


@pytest.mark.parametrize("target", ["metal", "cpu"])
@pytest.mark.parametrize("kernel", [planes, planes_in_a_loop], ids=lambda each: each.name)
def test_a_limit_keeps_planes_apart(kernel: eas.Kernel, target: str) -> None:
    assert not is_in_lockstep(kernel, target)


@pytest.mark.parametrize("target", ["metal", "cpu"])
@pytest.mark.parametrize(
    "kernel",
    [
        planes_of_another_size,
        planes_with_a_step_back,
        planes_of_every_second_element,
        planes_beyond_a_limit,
    ],
    ids=lambda each: each.name,
)
def test_planes_that_may_overlap_need_lockstep(kernel: eas.Kernel, target: str) -> None:
    assert is_in_lockstep(kernel, target)


@pytest.mark.parametrize("backend", BACKENDS)
def test_planes_hold_what_was_stored(backend: str) -> None:
    n, y = 100, np.where(np.arange(100) % 3, np.arange(100), -1).astype(np.float32)
    x, expected = np.zeros(4 * n, np.float32), np.zeros((4, n), np.float32)
    expected[[0, 3]] = np.where(y > 0, y, 0)
    expected[1] = -y
    planes[2](x, y, n, 0, BLOCK=64, _backend=backend)
    np.testing.assert_array_equal(x, expected.ravel())
