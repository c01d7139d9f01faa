"""The pass `induction`: blocks that loops only advance."""

from __future__ import annotations

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.lowering.induction import simplify_induction
from tests.ir.texts import change, lines


def test_a_loop_carries_how_far_a_block_has_moved() -> None:
    before = """
        %5: i32 = 0
        %6: i32 = 1
        %7: i32[4] = arange start=0 size=4
        %8: i32[4] = for %i.9: i32 = %5 .. %n.1 by %6 carrying (%p.10: i32[4] = %7) {
          store %out.0[%p.10] = %p.10
          %11: i32[4] = splat %n.1 shape=[4]
          %12: i32[4] = add %p.10, %11
          yield %12
        } else (%q.13: i32[4])
        store %out.0[%8] = %8
    """
    after = """
        %5: i32 = 0
        %6: i32 = 1
        %7: i32[4] = arange start=0 size=4
        %8: i32 = 0
        %9: i32[4] = for %i.10: i32 = %5 .. %n.1 by %6 carrying (%11: i32 = %8) {
          %12: i32[4] = splat %11 shape=[4]
          %p.13: i32[4] = add %7, %12
          store %out.0[%p.13] = %p.13
          %14: i32[4] = splat %n.1 shape=[4]
          %15: i32[4] = add %p.13, %14
          %16: i32 = add %11, %n.1
          yield %16
        } else (%17: i32) {
          %18: i32[4] = splat %17 shape=[4]
          %q.19: i32[4] = add %7, %18
          yield %q.19
        }
        store %out.0[%9] = %9
    """
    assert change(before, simplify_induction) == lines(after)


@pytest.mark.parametrize("moved", ["mul %p.10, %11", "add %11, %11", "sub %p.10, %11"])
def test_a_block_that_is_changed_otherwise_is_carried_as_it_is(moved: str) -> None:
    text = f"""
        %5: i32 = 0
        %6: i32 = 1
        %7: i32[4] = arange start=0 size=4
        %8: i32[4] = for %i.9: i32 = %5 .. %n.1 by %6 carrying (%p.10: i32[4] = %7) {{
          %11: i32[4] = splat %n.1 shape=[4]
          %12: i32[4] = {moved}
          yield %12
        }} else (%q.13: i32[4])
        store %out.0[%8] = %8
    """
    assert change(text, simplify_induction) == lines(text)


def test_blocks_whose_lanes_move_apart_are_carried_as_they_are() -> None:
    text = """
        %5: i32 = 0
        %6: i32 = 1
        %7: i32[4] = arange start=0 size=4
        %8: i32[4] = for %i.9: i32 = %5 .. %n.1 by %6 carrying (%p.10: i32[4] = %7) {
          %11: i32[4] = add %p.10, %7
          yield %11
        } else (%q.12: i32[4])
        store %out.0[%8] = %8
    """
    assert change(text, simplify_induction) == lines(text)


def test_a_loop_that_ends_in_its_first_trip_is_left_alone() -> None:
    text = """
        %5: i32 = 0
        %6: i32 = 1
        %7: i32[4] = arange start=0 size=4
        for %i.8: i32 = %5 .. %n.1 by %6 carrying (%p.9: i32[4] = %7) {
          store %out.0[%p.9] = %p.9
          break
        } else (%q.10: i32[4]) {
        }
    """
    assert change(text, simplify_induction) == lines(text)


@eas.kernel
def back_and_forth(x, y, n, m, TRIPS: eas.constexpr):
    i = mk.arange(0, 32)
    at, total = i, mk.zeros((32,), mk.f32)
    for _ in range(TRIPS):
        total += mk.load(x, at)
        at = at + m - n
    mk.store(y, i, total)


@pytest.mark.parametrize("backend", ["cpu", "msl-host"])
def test_a_block_that_is_moved_up_and_down_is_where_it_should_be(backend: str) -> None:
    x, y = np.arange(64, dtype=np.float32), np.zeros(32, np.float32)
    back_and_forth[1](x, y, 3, 8, TRIPS=4, _backend=backend)
    np.testing.assert_array_equal(y, sum(x[5 * trip :][:32] for trip in range(4)))
