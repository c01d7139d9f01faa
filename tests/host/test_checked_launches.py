"""Launches of `msl-host` with checks: in the text, and check mode first."""

from __future__ import annotations

import numpy as np
import pytest

import eas
from eas import mk


@eas.kernel
def pick(x, y, AT):
    y[0] = mk.load(x, AT)


@pytest.mark.parametrize("at", [1000, 1023, 2048, 3072, -1])
def test_an_access_far_outside_is_reported_by_the_name_of_its_array(at: int) -> None:
    x, y = np.ones(1000, np.float32), np.ones(4000, np.float32)
    with eas.checked(), pytest.raises(eas.KernelError) as caught:
        pick[1](x, y, at, _backend="msl-host")
    [found] = caught.value.diagnostics
    assert (found.code, found.message) == ("R0101", f"`x` is read out of bounds, at offset {at}")


@eas.kernel
def corner(a, y, COLUMN):
    y[0] = a[0, COLUMN]


def test_an_index_into_the_next_row_is_reported() -> None:
    a, y = np.ones((3, 4), np.float32), np.zeros(1, np.float32)
    with pytest.raises(eas.KernelError) as caught:
        corner[1](a, y, 4, _backend="msl-host", _checked=True)
    [found] = caught.value.diagnostics
    assert (found.code, found.message) == ("R0104", "`a` has no index 4 along axis 1")


@eas.kernel
def race(x, BLOCK: eas.constexpr):
    t = mk.tid(0, BLOCK)
    shared = mk.alloc_tg(BLOCK, mk.i32)
    mk.store(shared, t, t)
    mk.store(x, t, mk.load(shared, (t + 1) % BLOCK))


def test_check_mode_finds_what_is_no_access_outside_and_leaves_the_arrays() -> None:
    x = np.zeros(64, np.int32)
    with pytest.raises(eas.KernelError) as caught:
        race[1](x, BLOCK=64, _backend="msl-host", _checked=True)
    assert caught.value.diagnostics[0].code.startswith("H")
    assert not x.any()
