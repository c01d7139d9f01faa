"""The pass `relax`: what the ranges of integers show to be needless."""

from __future__ import annotations

from eas.ir.passes.relax import use_ranges
from tests.ir.texts import change, lines


def test_the_sign_fix_up_of_a_division_of_natural_numbers_is_gone() -> None:
    before = """
        %p.5: i32 = program_id axis=0
        %6: i32 = 3
        %7: i32 = floordiv %p.5, %6
        %8: i32 = mod %p.5, %6
        %9: i32 = floordiv %n.1, %6
        store %out.0[%7] = %8
        store %out.0[%9] = %n.1
    """
    after = """
        %p.5: i32 = program_id axis=0
        %6: i32 = 3
        %7: i32 = truncdiv %p.5, %6
        %8: i32 = truncmod %p.5, %6
        %9: i32 = floordiv %n.1, %6
        store %out.0[%7] = %8
        store %out.0[%9] = %n.1
    """
    assert change(before, use_ranges) == lines(after)


def test_a_condition_proves_that_a_number_is_natural() -> None:
    before = """
        %5: i32 = 0
        %6: bool = ge %n.1, %5
        if %6 {
          %7: i32 = 3
          %8: i32 = mod %n.1, %7
          store %out.0[%8] = %7
        }
    """
    after = """
        %5: i32 = 0
        %6: bool = ge %n.1, %5
        if %6 {
          %7: i32 = 3
          %8: i32 = truncmod %n.1, %7
          store %out.0[%8] = %7
        }
    """
    assert change(before, use_ranges) == lines(after)


def test_an_index_that_is_not_negative_is_itself() -> None:
    before = """
        %p.5: i32 = program_id axis=0
        %6: i32 = index %p.5, %n.1 array="out" axis=0
        %7: i32 = index %n.1, %n.1 array="out" axis=0
        store %out.0[%6] = %7
    """
    after = """
        %p.5: i32 = program_id axis=0
        %6: i32 = index %n.1, %n.1 array="out" axis=0
        store %out.0[%p.5] = %6
    """
    assert change(before, use_ranges) == lines(after)


def test_a_mask_that_always_holds_is_dropped() -> None:
    before = """
        %l.5: i32[4] = arange start=0 size=4
        %6: i32 = 4
        %7: i32[4] = splat %6 shape=[4]
        %8: bool[4] = lt %l.5, %7
        %9: i32[4] = load %out.0[%l.5] if %8 else %7
        store %out.0[%l.5] = %9 if %8
    """
    after = """
        %l.5: i32[4] = arange start=0 size=4
        %6: i32 = 4
        %7: i32[4] = splat %6 shape=[4]
        %8: bool = true
        %9: bool[4] = splat %8 shape=[4]
        %10: i32[4] = load %out.0[%l.5]
        store %out.0[%l.5] = %10
    """
    assert change(before, use_ranges) == lines(after)


def test_the_counter_of_a_loop_lies_between_its_bounds() -> None:
    before = """
        %5: i32 = 0
        %6: i32 = 1
        %7: i32 = 8
        for %i.8: i32 = %5 .. %7 by %6 {
          %9: i32 = mod %i.8, %7
          %10: bool = lt %i.8, %7
          store %out.0[%9] = %i.8 if %10
        }
    """
    after = """
        %5: i32 = 0
        %6: i32 = 1
        %7: i32 = 8
        for %i.8: i32 = %5 .. %7 by %6 {
          %9: i32 = truncmod %i.8, %7
          %10: bool = true
          store %out.0[%9] = %i.8
        }
    """
    assert change(before, use_ranges) == lines(after)
