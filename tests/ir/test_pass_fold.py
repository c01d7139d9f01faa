"""The pass `fold`: constants, identities, and control flow that is known."""

from __future__ import annotations

from eas.ir.passes.fold import fold
from tests.ir.texts import change, lines


def test_constants_are_computed_in_their_width() -> None:
    before = """
        %5: i32 = 2147483647
        %6: i32 = 1
        %7: i32 = add %5, %6
        store %out.0[%7] = %7
    """
    after = """
        %5: i32 = 2147483647
        %6: i32 = 1
        %7: i32 = -2147483648
        store %out.0[%7] = %7
    """
    assert change(before, fold) == lines(after)


def test_a_block_of_equal_constants_is_computed_once() -> None:
    before = """
        %5: i32 = 3
        %6: i32[4] = splat %5 shape=[4]
        %7: i32 = 4
        %8: i32[4] = splat %7 shape=[4]
        %9: i32[4] = mul %6, %8
        store %out.0[%9] = %9
    """
    after = """
        %5: i32 = 3
        %6: i32[4] = splat %5 shape=[4]
        %7: i32 = 4
        %8: i32[4] = splat %7 shape=[4]
        %9: i32 = 12
        %10: i32[4] = splat %9 shape=[4]
        store %out.0[%10] = %10
    """
    assert change(before, fold) == lines(after)


def test_floats_are_rounded_to_their_dtype() -> None:
    before = """
        %5: f32 = 0.1
        %6: f32 = 0.2
        %7: f32 = add %5, %6
        print %7
    """
    after = """
        %5: f32 = 0.1
        %6: f32 = 0.2
        %7: f32 = 0.30000001192092896
        print %7
    """
    assert change(before, fold) == lines(after)


def test_bf16_is_computed_as_the_interpreter_does() -> None:
    before = """
        %5: bf16 = 1.0
        %6: bf16 = 3.0
        %7: bf16 = div %5, %6
        print %7
    """
    after = """
        %5: bf16 = 1.0
        %6: bf16 = 3.0
        %7: bf16 = 0.333984375
        print %7
    """
    assert change(before, fold) == lines(after)


def test_a_division_by_zero_is_left_to_fault() -> None:
    ops = """
        %5: i32 = 1
        %6: i32 = 0
        %7: i32 = floordiv %5, %6
        store %out.0[%7] = %n.1
    """
    assert change(ops, fold) == lines(ops)


def test_floor_division_rounds_down() -> None:
    before = """
        %5: i32 = -7
        %6: i32 = 2
        %7: i32 = floordiv %5, %6
        %8: i32 = mod %5, %6
        store %out.0[%7] = %8
    """
    after = """
        %5: i32 = -7
        %6: i32 = 2
        %7: i32 = -4
        %8: i32 = 1
        store %out.0[%7] = %8
    """
    assert change(before, fold) == lines(after)


def test_integers_lose_neutral_operands() -> None:
    before = """
        %5: i32 = 0
        %6: i32 = 1
        %7: i32 = add %n.1, %5
        %8: i32 = mul %6, %7
        %9: i32 = floordiv %8, %6
        %10: i32 = shl %9, %5
        %11: i32 = or %10, %5
        %12: i32 = -1
        %13: i32 = and %11, %12
        %14: i32 = mul %13, %5
        %15: i32 = sub %13, %13
        %16: i32 = mod %13, %6
        store %out.0[%13] = %14
        store %out.0[%15] = %16
    """
    after = """
        %5: i32 = 0
        %6: i32 = 1
        %7: i32 = -1
        %8: i32 = 0
        %9: i32 = 0
        %10: i32 = 0
        store %out.0[%n.1] = %8
        store %out.0[%9] = %10
    """
    assert change(before, fold) == lines(after)


def test_adding_zero_to_a_float_is_kept_since_it_changes_minus_zero() -> None:
    ops = """
        %5: f32 = 0.0
        %6: f32 = add %x.2, %5
        print %6
    """
    assert change(ops, fold) == lines(ops)


def test_a_float_times_one_and_over_one_is_itself() -> None:
    before = """
        %5: f32 = 1.0
        %6: f32 = mul %x.2, %5
        %7: f32 = div %6, %5
        print %7
    """
    after = """
        %5: f32 = 1.0
        print %x.2
    """
    assert change(before, fold) == lines(after)


def test_a_float_is_not_known_to_equal_itself() -> None:
    before = """
        %5: bool = eq %x.2, %x.2
        %6: bool = eq %n.1, %n.1
        print %5, %6
    """
    after = """
        %5: bool = eq %x.2, %x.2
        %6: bool = true
        print %5, %6
    """
    assert change(before, fold) == lines(after)


def test_bools_lose_neutral_operands() -> None:
    before = """
        %5: bool = true
        %6: bool = false
        %7: bool = and %a.3, %5
        %8: bool = or %7, %6
        %9: bool = not %8
        %10: bool = not %9
        %11: bool = and %10, %10
        %12: bool = eq %11, %5
        %13: bool = xor %12, %5
        %14: bool = or %13, %5
        print %13, %14
    """
    after = """
        %5: bool = true
        %6: bool = false
        %7: bool = not %a.3
        %8: bool = not %a.3
        %9: bool = true
        print %8, %9
    """
    assert change(before, fold) == lines(after)


def test_the_negation_of_a_comparison_is_its_opposite_but_not_for_floats() -> None:
    before = """
        %5: i32 = 5
        %6: bool = lt %n.1, %5
        %7: bool = not %6
        %8: f32 = 5.0
        %9: bool = lt %x.2, %8
        %10: bool = not %9
        %11: bool = eq %x.2, %8
        %12: bool = not %11
        print %7, %10, %12
    """
    after = """
        %5: i32 = 5
        %6: bool = lt %n.1, %5
        %7: bool = ge %n.1, %5
        %8: f32 = 5.0
        %9: bool = lt %x.2, %8
        %10: bool = not %9
        %11: bool = eq %x.2, %8
        %12: bool = ne %x.2, %8
        print %7, %10, %12
    """
    assert change(before, fold) == lines(after)


def test_a_selection_with_a_known_condition_or_equal_sides_is_one_of_them() -> None:
    before = """
        %5: bool = true
        %6: i32 = 6
        %7: i32 = select %5, %n.1, %6
        %8: i32 = select %a.3, %7, %7
        store %out.0[%8] = %6
    """
    after = """
        %5: bool = true
        %6: i32 = 6
        store %out.0[%n.1] = %6
    """
    assert change(before, fold) == lines(after)


def test_a_selection_of_bools_is_a_logical_op() -> None:
    before = """
        %5: bool = true
        %6: bool = false
        %7: bool = select %a.3, %5, %6
        %8: bool = select %a.3, %6, %5
        %9: bool = select %a.3, %5, %b.4
        %10: bool = select %a.3, %b.4, %6
        print %7, %8, %9, %10
    """
    after = """
        %5: bool = true
        %6: bool = false
        %7: bool = not %a.3
        %8: bool = or %a.3, %b.4
        %9: bool = and %a.3, %b.4
        print %a.3, %7, %8, %9
    """
    assert change(before, fold) == lines(after)


def test_casts_that_lose_nothing_are_joined() -> None:
    before = """
        %5: i32 = cast %n.1 dtype=i32
        %6: i64 = cast %5 dtype=i64
        %7: i32 = cast %6 dtype=i32
        %8: f32 = cast %6 dtype=f32
        %9: i8 = cast %n.1 dtype=i8
        %10: i32 = cast %9 dtype=i32
        print %7, %8, %10
    """
    after = """
        %5: i64 = cast %n.1 dtype=i64
        %6: f32 = cast %n.1 dtype=f32
        %7: i8 = cast %n.1 dtype=i8
        %8: i32 = cast %7 dtype=i32
        print %n.1, %6, %8
    """
    assert change(before, fold) == lines(after)


def test_a_splat_that_changes_shape_is_a_splat() -> None:
    before = """
        %5: i32[1] = splat %n.1 shape=[1]
        %6: i32[4] = broadcast %5 shape=[4]
        %7: i32[4, 1] = expand_dims %6 axis=1
        %8: i32[2, 2] = reshape %7 shape=[2, 2]
        %9: i32[2, 2] = permute %8 axes=[1, 0]
        store %out.0[%9] = %9
    """
    after = """
        %5: i32[1] = splat %n.1 shape=[1]
        %6: i32[4] = splat %n.1 shape=[4]
        %7: i32[4, 1] = splat %n.1 shape=[4, 1]
        %8: i32[2, 2] = splat %n.1 shape=[2, 2]
        %9: i32[2, 2] = splat %n.1 shape=[2, 2]
        store %out.0[%9] = %9
    """
    assert change(before, fold) == lines(after)


def test_a_slice_of_everything_is_the_block_but_its_reverse_is_not() -> None:
    before = """
        %5: i32[4] = arange start=0 size=4
        %6: i32[4] = slice %5 starts=[0] sizes=[4] steps=[1]
        %7: i32[4] = slice %5 starts=[3] sizes=[4] steps=[-1]
        store %out.0[%6] = %7
    """
    after = """
        %5: i32[4] = arange start=0 size=4
        %6: i32[4] = slice %5 starts=[3] sizes=[4] steps=[-1]
        store %out.0[%5] = %6
    """
    assert change(before, fold) == lines(after)


def test_a_branch_with_a_known_condition_is_taken() -> None:
    before = """
        %5: i32 = 3
        %6: i32 = 4
        %7: bool = lt %5, %6
        %8: i32 = if %7 {
          %9: i32 = add %n.1, %5
          yield %9
        } else {
          store %out.0[%n.1] = %5
          yield %6
        }
        store %out.0[%8] = %5
    """
    after = """
        %5: i32 = 3
        %6: i32 = 4
        %7: bool = true
        %8: i32 = add %n.1, %5
        store %out.0[%8] = %5
    """
    assert change(before, fold) == lines(after)


def test_code_after_an_exit_that_is_always_taken_is_gone() -> None:
    before = """
        %5: i32 = 0
        %6: i32 = 1
        %7: bool = true
        for %i.8: i32 = %5 .. %n.1 by %6 {
          if %7 {
            store %out.0[%i.8] = %6
            break
          }
          store %out.0[%i.8] = %5
        }
    """
    after = """
        %5: i32 = 0
        %6: i32 = 1
        %7: bool = true
        for %i.8: i32 = %5 .. %n.1 by %6 {
          store %out.0[%i.8] = %6
          break
        }
    """
    assert change(before, fold) == lines(after)


def test_a_branch_knows_its_condition() -> None:
    before = """
        %5: bool = and %a.3, %b.4
        if %5 {
          %6: bool = not %a.3
          print %6
          if %b.4 {
            store %out.0[%n.1] = %n.1
          }
        } else {
          if %5 {
            print %a.3
          }
        }
    """
    after = """
        %5: bool = and %a.3, %b.4
        if %5 {
          %6: bool = false
          print %6
          store %out.0[%n.1] = %n.1
        }
    """
    assert change(before, fold) == lines(after)


def test_code_after_an_exit_knows_that_its_condition_fails() -> None:
    before = """
        %5: i32 = 0
        %6: i32 = 1
        for %i.7: i32 = %5 .. %n.1 by %6 {
          if %a.3 {
            break
          }
          %8: bool = or %a.3, %b.4
          if %8 {
            store %out.0[%i.7] = %i.7
          }
        }
    """
    after = """
        %5: i32 = 0
        %6: i32 = 1
        for %i.7: i32 = %5 .. %n.1 by %6 {
          if %a.3 {
            break
          }
          if %b.4 {
            store %out.0[%i.7] = %i.7
          }
        }
    """
    assert change(before, fold) == lines(after)


def test_a_mask_that_the_branch_implies_is_dropped() -> None:
    before = """
        %l.5: i32[4] = arange start=0 size=4
        %6: i32[4] = splat %n.1 shape=[4]
        %7: bool[4] = lt %l.5, %6
        if %7 {
          %8: i32[4] = load %out.0[%l.5] if %7 else %6
          store %out.0[%l.5] = %8 if %7
        }
    """
    after = """
        %l.5: i32[4] = arange start=0 size=4
        %6: i32[4] = splat %n.1 shape=[4]
        %7: bool[4] = lt %l.5, %6
        if %7 {
          %8: i32[4] = load %out.0[%l.5]
          store %out.0[%l.5] = %8
        }
    """
    assert change(before, fold) == lines(after)


def test_an_access_that_is_masked_off_is_gone() -> None:
    before = """
        %5: bool = false
        %6: i32 = load %out.0[%n.1] if %5 else %n.1
        store %out.0[%6] = %n.1 if %5
        print %6
    """
    after = """
        %5: bool = false
        print %n.1
    """
    assert change(before, fold) == lines(after)


def test_a_result_that_both_branches_share_needs_no_join() -> None:
    before = """
        %5: i32, %6: i32 = if %a.3 {
          print %n.1
          %7: i32 = 7
          yield %n.1, %7
        } else {
          %8: i32 = 7
          yield %n.1, %8
        }
        store %out.0[%5] = %6
    """
    after = """
        %5: i32 = 7
        %6: i32, %7: i32 = if %a.3 {
          print %n.1
          %8: i32 = 7
          yield %n.1, %8
        } else {
          %9: i32 = 7
          yield %n.1, %9
        }
        store %out.0[%n.1] = %5
    """
    assert change(before, fold) == lines(after)


def test_a_loop_that_never_runs_is_its_orelse() -> None:
    before = """
        %5: i32 = 3
        %6: i32 = 1
        %7: i32 = for %i.8: i32 = %5 .. %5 by %6 carrying (%9: i32 = %n.1) {
          store %out.0[%i.8] = %9
          yield %i.8
        } else (%10: i32) {
          print %10
          yield %10
        }
        store %out.0[%7] = %7
    """
    after = """
        %5: i32 = 3
        %6: i32 = 1
        print %n.1
        store %out.0[%n.1] = %n.1
    """
    assert change(before, fold) == lines(after)


def test_a_while_that_never_runs_is_its_test_and_its_orelse() -> None:
    before = """
        %5: i32 = while (%6: i32 = %n.1) {
          print %6
          %7: bool = false
          condition %7 with %6
        } do (%8: i32) {
          store %out.0[%8] = %8
          yield %8
        } else (%9: i32)
        store %out.0[%5] = %5
    """
    after = """
        print %n.1
        %5: bool = false
        store %out.0[%n.1] = %n.1
    """
    assert change(before, fold) == lines(after)


def test_a_carried_value_that_never_changes_is_its_first_value() -> None:
    before = """
        %5: i32 = 0
        %6: i32 = 1
        %7: i32, %8: i32 = for %9: i32 = %5 .. %n.1 by %6 carrying (%10: i32 = %6, %11: i32 = %5) {
          %12: i32 = mul %11, %10
          %13: i32 = add %12, %10
          yield %10, %13
        } else (%14: i32, %15: i32)
        store %out.0[%7] = %8
    """
    after = """
        %5: i32 = 0
        %6: i32 = 1
        %7: i32, %8: i32 = for %9: i32 = %5 .. %n.1 by %6 carrying (%10: i32 = %6, %11: i32 = %5) {
          %12: i32 = add %11, %6
          yield %6, %12
        } else (%13: i32, %14: i32) {
          yield %6, %14
        }
        store %out.0[%6] = %8
    """
    assert change(before, fold) == lines(after)


def test_a_value_that_the_test_changes_is_carried() -> None:
    ops = """
        %5: i32 = 0
        %6: i32 = while (%7: i32 = %5) {
          %8: i32 = load %out.0[%7]
          %9: bool = lt %8, %n.1
          condition %9 with %8
        } do (%10: i32) {
          yield %10
        } else (%11: i32)
        store %out.0[%6] = %6
    """
    assert change(ops, fold) == lines(ops)


def test_an_assertion_that_holds_is_gone() -> None:
    before = """
        %5: bool = true
        assert %5, "always"
        assert %a.3, "sometimes"
    """
    after = """
        %5: bool = true
        assert %a.3, "sometimes"
    """
    assert change(before, fold) == lines(after)
