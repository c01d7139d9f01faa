"""What a program does on the CPU, as text: `eas schedule --target cpu`."""

from __future__ import annotations

from textwrap import dedent

import pytest

import eas
from eas import mk


@eas.kernel
def running_sum(x, y, ROWS, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    total = 0.0
    for row in range(ROWS):
        v = mk.load(x, row * BLOCK + i)
        total += mk.sum(v * v)
    mk.store(y, i, total + i)


def test_ops_that_run_once_stand_apart_from_loops_over_lanes() -> None:
    text = """\
        once: %total.8: f32 = for { ... }
          region:
            once: %11: i32 = mul %row.9, %7
            each lane of 64:
              %v.14: f32[64] = load %x.0[%13]
              %15: f32[64] = mul %v.14, %v.14
              %16: f32 = reduce_sum %15 axis=none
            once: %total.17: f32 = add %total.10, %16
          region:
        each lane of 64:
          %20: f32[64] = cast %i.3 dtype=f32
          %21: f32[64] = add %19, %20
          store %y.1[%i.3] = %21
        """
    found = running_sum.to_schedule("*f32", "*f32", "i32", BLOCK=64, _target="cpu")
    assert found == dedent(text)


def test_a_target_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no target 'gpu'; there are metal, cpu"):
        running_sum.to_schedule("*f32", "*f32", "i32", BLOCK=64, _target="gpu")
