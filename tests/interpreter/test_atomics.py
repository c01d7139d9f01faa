"""Atomic updates, compared with the same updates made one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from eas.ir.ops.record import Array
from eas.ir.types import BF16, F16, F32, I32, I64, U8, U32, DType
from tests.interpreter.running import arrays_after
from tests.thorough import sampled

LANES, PROGRAMS = 16, 6

UPDATES: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda old, value: old + value,
    "max": np.fmax,
    "min": np.fmin,
    "and": lambda old, value: old & value,
    "or": lambda old, value: old | value,
    "xor": lambda old, value: old ^ value,
    "xchg": lambda old, value: value,
}
CASES = [
    (kind, dtype)
    for kind in UPDATES
    for dtype in (I32, U32, I64, U8, F32, F16, BF16)
    if dtype.is_int or kind in ("add", "max", "min", "xchg")
]


def kernel(kind: str, dtype: DType, is_used: bool) -> str:
    """Updates `x` at the offsets `i` by the values `v` where `m` holds; stores what was there."""
    before = f"%15: {dtype}[16] = atomic {kind} %x.0[%9], %10 if %12"
    store = "store %old.4[%8] = %15 if %12" if is_used else ""
    return f"""kernel k(
      %x.0: *{dtype}, %i.1: *i32, %v.2: *{dtype}, %m.3: *bool, %old.4: *{dtype}
    ) from "k.py" {{
      %5: i32[16] = arange start=0 size=16
      %6: i32 = program_id axis=0
      %7: i32 = 16
      %13: i32 = mul %6, %7
      %14: i32[16] = splat %13 shape=[16]
      %8: i32[16] = add %14, %5
      %9: i32[16] = load %i.1[%8]
      %10: {dtype}[16] = load %v.2[%8]
      %12: bool[16] = load %m.3[%8]
      {before}
      {store}
    }}"""


def one_by_one(
    update: Callable[[Any, Any], Any], x: Array, index: Array, value: Array, mask: Array
) -> tuple[Array, Array]:
    x, old = x.copy(), np.zeros_like(value)
    with np.errstate(all="ignore"):
        for lane in np.flatnonzero(mask):
            old[lane] = x[index[lane]]
            x[index[lane]] = update(x[index[lane]], value[lane])
    return x, old


def inputs(dtype: DType, places: int, seed: int = 0) -> tuple[Array, Array, Array, Array]:
    random = np.random.default_rng(seed)
    size = LANES * PROGRAMS
    value = (random.random(size) * 200).astype(dtype.numpy)
    x = (random.random(places) * 100).astype(dtype.numpy)
    return x, random.integers(0, places, size, np.int32), value, random.random(size) < 0.8


@sampled(7)
@pytest.mark.parametrize("is_used", [True, False])
@pytest.mark.parametrize("places", [1, 3, 500])
@pytest.mark.parametrize(("kind", "dtype"), CASES, ids=str)
def test_updates_happen_one_after_the_other(
    kind: str, dtype: DType, places: int, is_used: bool
) -> None:
    x, index, value, mask = inputs(dtype, places)
    old = np.zeros_like(value)
    text = kernel(kind, dtype, is_used)
    got = arrays_after(text, x, index, value, mask, old, grid=(PROGRAMS,))
    wanted, before = one_by_one(UPDATES[kind], x, index, value, mask)
    np.testing.assert_array_equal(got[0], wanted)
    np.testing.assert_array_equal(got[4], before if is_used else old)


def test_compare_and_swap_lets_the_first_lane_win() -> None:
    text = """kernel k(%x.0: *i32, %old.1: *i32) from "k.py" {
      %2: i32 = program_id axis=0
      %3: i32 = 4
      %4: i32 = mul %2, %3
      %5: i32[4] = splat %4 shape=[4]
      %6: i32[4] = arange start=0 size=4
      %7: i32[4] = add %5, %6
      %8: i32 = 1
      %9: i32[4] = splat %8 shape=[4]
      %10: i32[4] = and %6, %9
      %11: i32[4] = atomic cas %x.0[%10], %10 -> %7
      store %old.1[%7] = %11
    }"""
    x, old = np.array([0, 1], np.int32), np.zeros(12, np.int32)
    wanted, before = x.tolist(), []
    for lane in range(12):
        place = lane % 2
        before.append(wanted[place])
        if wanted[place] == place:
            wanted[place] = lane
    got = arrays_after(text, x, old, grid=(3,))
    assert (got[0].tolist(), got[1].tolist()) == (wanted, before)


def test_a_scalar_update_happens_once_per_program() -> None:
    text = """kernel k(%x.0: *i32, %old.1: *i32) from "k.py" {
      %2: i32 = program_id axis=0
      %3: i32 = 0
      %4: i32 = 1
      %5: i32 = atomic add %x.0[%3], %4
      store %old.1[%2] = %5
    }"""
    x, old = arrays_after(text, np.zeros(1, np.int32), np.zeros(7, np.int32), grid=(7,))
    assert (x.tolist(), old.tolist()) == ([7], list(range(7)))


def test_inactive_lanes_update_nothing() -> None:
    text = """kernel k(%x.0: *i32) from "k.py" {
      %1: i32[8] = arange start=0 size=8
      %2: i32 = 3
      %3: i32[8] = splat %2 shape=[8]
      %4: bool[8] = lt %1, %3
      %5: i32 = 0
      %6: i32[8] = splat %5 shape=[8]
      if %4 {
        %7: i32[8] = atomic add %x.0[%6], %3
      }
    }"""
    assert arrays_after(text, np.zeros(1, np.int32), grid=(4,))[0].tolist() == [36]


def test_threadgroup_memory_is_updated_for_each_program() -> None:
    text = """kernel histogram(%x.0: *i32) from "k.py" threads 8 {
      %bins.1: *i32@threadgroup = alloc 8
      %2: i32[8] = thread_index size=8
      %3: i32 = 0
      %4: i32[8] = splat %3 shape=[8]
      store %bins.1[%2] = %4
      barrier
      %5: i32 = 1
      %6: i32[8] = splat %5 shape=[8]
      %7: i32[8] = shr %2, %6
      %8: i32[8] = atomic add %bins.1[%7], %6
      barrier
      %9: i32[8] = load %bins.1[%2]
      %10: i32 = program_id axis=0
      %11: i32 = 8
      %12: i32 = mul %10, %11
      %13: i32[8] = splat %12 shape=[8]
      %14: i32[8] = add %13, %2
      store %x.0[%14] = %9
    }"""
    (x,) = arrays_after(text, np.zeros(24, np.int32), grid=(3,))
    assert x.tolist() == [2, 2, 2, 2, 0, 0, 0, 0] * 3
