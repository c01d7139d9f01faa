"""The pass `hoist`: what leaves a loop."""

from __future__ import annotations

from eas.ir.passes.hoist import hoist
from tests.ir.texts import change, lines


def test_what_no_trip_changes_is_computed_before_the_loop() -> None:
    before = """
        %5: i32 = 0
        %6: i32 = 1
        for %i.7: i32 = %5 .. %n.1 by %6 {
          %8: i32 = 8
          %9: i32 = mul %n.1, %8
          %10: i32 = add %9, %i.7
          store %out.0[%10] = %9
        }
    """
    after = """
        %5: i32 = 0
        %6: i32 = 1
        %7: i32 = 8
        %8: i32 = mul %n.1, %7
        for %i.9: i32 = %5 .. %n.1 by %6 {
          %10: i32 = add %8, %i.9
          store %out.0[%10] = %8
        }
    """
    assert change(before, hoist) == lines(after)


def test_an_op_leaves_every_loop_that_it_does_not_depend_on() -> None:
    before = """
        %5: i32 = 0
        %6: i32 = 1
        for %i.7: i32 = %5 .. %n.1 by %6 {
          for %j.8: i32 = %5 .. %n.1 by %6 {
            %9: i32 = mul %n.1, %n.1
            %10: i32 = mul %i.7, %9
            %11: i32 = mul %j.8, %10
            store %out.0[%11] = %6
          }
        }
    """
    after = """
        %5: i32 = 0
        %6: i32 = 1
        %7: i32 = mul %n.1, %n.1
        for %i.8: i32 = %5 .. %n.1 by %6 {
          %9: i32 = mul %i.8, %7
          for %j.10: i32 = %5 .. %n.1 by %6 {
            %11: i32 = mul %j.10, %9
            store %out.0[%11] = %6
          }
        }
    """
    assert change(before, hoist) == lines(after)


def test_an_op_that_can_fault_stays_in_the_loop() -> None:
    before = """
        %5: i32 = 0
        %6: i32 = 2
        for %i.7: i32 = %5 .. %n.1 by %6 {
          %8: i32 = floordiv %6, %n.1
          %9: i32 = floordiv %n.1, %6
          store %out.0[%8] = %9
        }
    """
    after = """
        %5: i32 = 0
        %6: i32 = 2
        %7: i32 = floordiv %n.1, %6
        for %i.8: i32 = %5 .. %n.1 by %6 {
          %9: i32 = floordiv %6, %n.1
          store %out.0[%9] = %7
        }
    """
    assert change(before, hoist) == lines(after)


def test_an_op_in_a_branch_stays_there() -> None:
    before = """
        %5: i32 = 0
        %6: i32 = 1
        for %i.7: i32 = %5 .. %n.1 by %6 {
          if %a.3 {
            %8: i32 = mul %n.1, %n.1
            for %j.9: i32 = %5 .. %n.1 by %6 {
              %10: i32 = add %n.1, %n.1
              store %out.0[%8] = %10
            }
          }
        }
    """
    after = """
        %5: i32 = 0
        %6: i32 = 1
        for %i.7: i32 = %5 .. %n.1 by %6 {
          if %a.3 {
            %8: i32 = mul %n.1, %n.1
            %9: i32 = add %n.1, %n.1
            for %j.10: i32 = %5 .. %n.1 by %6 {
              store %out.0[%8] = %9
            }
          }
        }
    """
    assert change(before, hoist) == lines(after)


def test_the_test_of_a_while_is_left_too_but_not_the_orelse() -> None:
    before = """
        while {
          %5: i32 = 9
          %6: bool = lt %n.1, %5
          condition %6
        } do {
          %7: i32 = mul %n.1, %n.1
          store %out.0[%7] = %7
        } else {
          %8: i32 = add %n.1, %n.1
          store %out.0[%8] = %8
        }
    """
    after = """
        %5: i32 = 9
        %6: bool = lt %n.1, %5
        %7: i32 = mul %n.1, %n.1
        while {
          condition %6
        } do {
          store %out.0[%7] = %7
        } else {
          %8: i32 = add %n.1, %n.1
          store %out.0[%8] = %8
        }
    """
    assert change(before, hoist) == lines(after)


def test_carried_values_and_loads_stay() -> None:
    ops = """
        %5: i32 = 0
        %6: i32 = 1
        for %i.7: i32 = %5 .. %n.1 by %6 carrying (%8: i32 = %5) {
          %9: i32 = add %8, %6
          %10: i32 = load %out.0[%n.1]
          store %out.0[%9] = %10
          yield %9
        } else (%11: i32) {
        }
    """
    assert change(ops, hoist) == lines(ops)
