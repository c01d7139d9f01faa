"""The pass `select`: which branches become selections."""

from __future__ import annotations

from eas.ir.passes.select import use_selects
from tests.ir.texts import change, lines


def test_a_branch_between_cheap_values_is_a_selection() -> None:
    before = """
        %5: i32 = if %a.3 {
          %6: i32 = add %n.1, %n.1
          yield %6
        } else {
          yield %n.1
        }
        store %out.0[%n.1] = %5
    """
    after = """
        %5: i32 = add %n.1, %n.1
        %6: i32 = select %a.3, %5, %n.1
        store %out.0[%n.1] = %6
    """
    assert change(before, use_selects) == lines(after)


def test_a_short_circuit_of_bools_is_a_logical_op() -> None:
    before = """
        %5: bool = if %a.3 {
          yield %b.4
        } else {
          %6: bool = false
          yield %6
        }
        %7: bool = if %a.3 {
          %8: bool = true
          yield %8
        } else {
          yield %b.4
        }
        print %5, %7
    """
    after = """
        %5: bool = false
        %6: bool = and %a.3, %b.4
        %7: bool = true
        %8: bool = or %a.3, %b.4
        print %6, %8
    """
    assert change(before, use_selects) == lines(after)


def test_a_scalar_condition_is_repeated_for_blocks() -> None:
    before = """
        %l.5: i32[4] = arange start=0 size=4
        %6: i32[4] = if %a.3 {
          yield %l.5
        } else {
          %7: i32[4] = splat %n.1 shape=[4]
          yield %7
        }
        store %out.0[%l.5] = %6
    """
    after = """
        %l.5: i32[4] = arange start=0 size=4
        %6: i32[4] = splat %n.1 shape=[4]
        %7: bool[4] = splat %a.3 shape=[4]
        %8: i32[4] = select %7, %l.5, %6
        store %out.0[%l.5] = %8
    """
    assert change(before, use_selects) == lines(after)


def test_inner_branches_are_selected_first() -> None:
    before = """
        %5: i32 = if %a.3 {
          %6: i32 = if %b.4 {
            yield %n.1
          } else {
            %7: i32 = 7
            yield %7
          }
          yield %6
        } else {
          %8: i32 = 8
          yield %8
        }
        store %out.0[%n.1] = %5
    """
    after = """
        %5: i32 = 7
        %6: i32 = select %b.4, %n.1, %5
        %7: i32 = 8
        %8: i32 = select %a.3, %6, %7
        store %out.0[%n.1] = %8
    """
    assert change(before, use_selects) == lines(after)


def test_what_may_fault_or_has_an_effect_stays_a_branch() -> None:
    ops = """
        %5: i32 = if %a.3 {
          %6: i32 = load %out.0[%n.1]
          yield %6
        } else {
          yield %n.1
        }
        %7: i32 = if %b.4 {
          %8: i32 = floordiv %5, %n.1
          yield %8
        } else {
          yield %n.1
        }
        store %out.0[%n.1] = %7
    """
    assert change(ops, use_selects) == lines(ops)


def test_dear_functions_stay_in_their_branch() -> None:
    ops = """
        %5: f32 = if %a.3 {
          %6: f32 = exp %x.2
          yield %6
        } else {
          yield %x.2
        }
        print %5
    """
    assert change(ops, use_selects) == lines(ops)
