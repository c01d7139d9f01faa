"""The pass `dead`: what is removed, and what has to stay."""

from __future__ import annotations

from eas.ir.nodes import Function
from eas.ir.passes.dead import remove_dead
from tests.ir.texts import change, lines


def checked(f: Function) -> Function:
    return remove_dead(f, keeps_faults=True)


def unchecked(f: Function) -> Function:
    return remove_dead(f, keeps_faults=False)


def test_what_nothing_uses_is_gone() -> None:
    before = """
        %5: i32 = 5
        %6: i32 = add %n.1, %5
        %7: i32 = mul %6, %6
        store %out.0[%n.1] = %5
    """
    after = """
        %5: i32 = 5
        store %out.0[%n.1] = %5
    """
    assert change(before, checked) == lines(after)


def test_a_load_and_a_division_that_may_fault_are_kept() -> None:
    before = """
        %5: i32 = load %out.0[%n.1]
        %6: i32 = floordiv %5, %n.1
        %7: i32 = 7
        %8: i32 = floordiv %n.1, %7
    """
    after = """
        %5: i32 = load %out.0[%n.1]
        %6: i32 = floordiv %5, %n.1
    """
    assert change(before, checked) == lines(after)


def test_without_checks_they_are_gone() -> None:
    ops = """
        %5: i32 = load %out.0[%n.1]
        %6: i32 = floordiv %5, %n.1
    """
    assert change(ops, unchecked) == ""


def test_a_branch_loses_results_that_are_not_used() -> None:
    before = """
        %5: i32, %6: i32 = if %a.3 {
          store %out.0[%n.1] = %n.1
          %7: i32 = 7
          %8: i32 = 8
          yield %7, %8
        } else {
          yield %n.1, %n.1
        }
        store %out.0[%n.1] = %6
    """
    after = """
        %5: i32 = if %a.3 {
          store %out.0[%n.1] = %n.1
          %6: i32 = 8
          yield %6
        } else {
          yield %n.1
        }
        store %out.0[%n.1] = %5
    """
    assert change(before, checked) == lines(after)


def test_a_branch_without_effects_and_results_is_gone() -> None:
    ops = """
        %5: i32 = if %a.3 {
          %6: i32 = add %n.1, %n.1
          yield %6
        } else {
          yield %n.1
        }
    """
    assert change(ops, checked) == ""


def test_a_carried_value_that_only_feeds_itself_is_gone() -> None:
    before = """
        %5: i32 = 0
        %6: i32 = 1
        %7: i32, %8: i32 = for %9: i32 = %5 .. %n.1 by %6 carrying (%10: i32 = %5, %11: i32 = %5) {
          %12: i32 = add %10, %9
          %13: i32 = add %11, %9
          yield %12, %13
        } else (%14: i32, %15: i32)
        store %out.0[%n.1] = %8
    """
    after = """
        %5: i32 = 0
        %6: i32 = 1
        %7: i32 = for %8: i32 = %5 .. %n.1 by %6 carrying (%9: i32 = %5) {
          %10: i32 = add %9, %8
          yield %10
        } else (%11: i32)
        store %out.0[%n.1] = %7
    """
    assert change(before, checked) == lines(after)


def test_carried_values_that_only_feed_each_other_are_gone() -> None:
    before = """
        %5: i32 = 0
        %6: i32 = 1
        for %i.7: i32 = %5 .. %n.1 by %6 carrying (%u.8: i32 = %5, %v.9: i32 = %6) {
          store %out.0[%i.7] = %i.7
          if %a.3 {
            continue %v.9, %v.9
          }
          yield %v.9, %u.8
        } else (%10: i32, %11: i32) {
        }
    """
    after = """
        %5: i32 = 0
        %6: i32 = 1
        for %i.7: i32 = %5 .. %n.1 by %6 {
          store %out.0[%i.7] = %i.7
          if %a.3 {
            continue
          }
        }
    """
    assert change(before, checked) == lines(after)


def test_a_value_that_decides_when_a_loop_ends_is_kept() -> None:
    ops = """
        %5: i32 = 0
        %6: i32 = 1
        %7: i32 = for %i.8: i32 = %5 .. %n.1 by %6 carrying (%s.9: i32 = %5) {
          %10: i32 = add %s.9, %i.8
          %11: bool = gt %10, %n.1
          if %11 {
            break %i.8
          }
          yield %10
        } else (%12: i32) {
          yield %5
        }
        store %out.0[%n.1] = %7
    """
    assert change(ops, checked) == lines(ops)


def test_a_for_without_effects_and_results_is_gone_exits_and_all() -> None:
    ops = """
        %5: i32 = 0
        %6: i32 = 1
        %7: i32 = for %i.8: i32 = %5 .. %n.1 by %6 {
          if %a.3 {
            break %i.8
          }
        } else {
          yield %n.1
        }
    """
    assert change(ops, checked) == ""


def test_a_for_whose_step_may_be_zero_is_kept() -> None:
    ops = """
        %5: i32 = 0
        for %i.6: i32 = %5 .. %n.1 by %n.1 {
        }
    """
    assert change(ops, checked) == lines(ops)


def test_a_while_is_kept_since_it_may_not_end() -> None:
    before = """
        %5: i32 = while (%6: i32 = %n.1, %7: i32 = %n.1) {
          %8: i32 = 100
          %9: bool = lt %6, %8
          condition %9 with %6, %7
        } do (%10: i32, %11: i32) {
          %12: i32 = add %10, %10
          %13: i32 = add %11, %12
          yield %12, %13
        } else (%14: i32, %15: i32) {
          yield %15
        }
    """
    after = """
        while (%5: i32 = %n.1) {
          %6: i32 = 100
          %7: bool = lt %5, %6
          condition %7 with %5
        } do (%8: i32) {
          %9: i32 = add %8, %8
          yield %9
        } else (%10: i32) {
        }
    """
    assert change(before, checked) == lines(after)


def test_an_exit_in_the_orelse_of_an_inner_loop_keeps_that_loop() -> None:
    ops = """
        %5: i32 = 0
        %6: i32 = 1
        for %i.7: i32 = %5 .. %n.1 by %6 {
          store %out.0[%i.7] = %i.7
          for %j.8: i32 = %5 .. %i.7 by %6 {
            if %a.3 {
              break
            }
          } else {
            break
          }
        }
    """
    assert change(ops, checked) == lines(ops)


def test_memory_that_nobody_touches_is_gone() -> None:
    before = """
        %5: *i32@threadgroup = alloc 8
        %6: *i32@threadgroup = alloc 8
        store %6[%n.1] = %n.1
    """
    after = """
        %5: *i32@threadgroup = alloc 8
        store %5[%n.1] = %n.1
    """
    assert change(before, checked) == lines(after)
