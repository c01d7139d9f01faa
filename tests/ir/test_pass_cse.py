"""The pass `cse`: which equal ops become one."""

from __future__ import annotations

from eas.ir.passes.cse import merge_common
from tests.ir.texts import change, lines


def test_equal_ops_are_merged_and_keep_the_users_name() -> None:
    before = """
        %5: i32 = mul %n.1, %n.1
        store %out.0[%5] = %n.1
        %square.6: i32 = mul %n.1, %n.1
        store %out.0[%square.6] = %n.1
    """
    after = """
        %square.5: i32 = mul %n.1, %n.1
        store %out.0[%square.5] = %n.1
        store %out.0[%square.5] = %n.1
    """
    assert change(before, merge_common) == lines(after)


def test_the_order_of_operands_only_counts_where_it_matters() -> None:
    before = """
        %5: i32 = 5
        %6: i32 = add %n.1, %5
        %7: i32 = add %5, %n.1
        %8: i32 = sub %n.1, %5
        %9: i32 = sub %5, %n.1
        store %out.0[%6] = %7
        store %out.0[%8] = %9
    """
    after = """
        %5: i32 = 5
        %6: i32 = add %n.1, %5
        %7: i32 = sub %n.1, %5
        %8: i32 = sub %5, %n.1
        store %out.0[%6] = %6
        store %out.0[%7] = %8
    """
    assert change(before, merge_common) == lines(after)


def test_a_value_of_a_region_around_is_used_but_not_one_of_a_branch_before() -> None:
    before = """
        %5: i32 = add %n.1, %n.1
        if %a.3 {
          %6: i32 = add %n.1, %n.1
          %7: i32 = mul %n.1, %n.1
          store %out.0[%6] = %7
        } else {
          %8: i32 = mul %n.1, %n.1
          store %out.0[%8] = %5
        }
        %9: i32 = mul %n.1, %n.1
        store %out.0[%9] = %n.1
    """
    after = """
        %5: i32 = add %n.1, %n.1
        if %a.3 {
          %6: i32 = mul %n.1, %n.1
          store %out.0[%5] = %6
        } else {
          %7: i32 = mul %n.1, %n.1
          store %out.0[%7] = %5
        }
        %8: i32 = mul %n.1, %n.1
        store %out.0[%8] = %n.1
    """
    assert change(before, merge_common) == lines(after)


def test_an_op_that_can_fault_is_merged_with_one_before_it() -> None:
    before = """
        %5: i32 = floordiv %n.1, %n.1
        if %a.3 {
          %6: i32 = floordiv %n.1, %n.1
          store %out.0[%5] = %6
        }
    """
    after = """
        %5: i32 = floordiv %n.1, %n.1
        if %a.3 {
          store %out.0[%5] = %5
        }
    """
    assert change(before, merge_common) == lines(after)


def test_zeros_of_both_signs_and_dtypes_are_kept_apart() -> None:
    before = """
        %5: f32 = 0.0
        %6: f32 = -0.0
        %7: f32 = 0.0
        %8: i32 = 0
        %9: bool = false
        print %5, %6, %7, %8, %9
    """
    after = """
        %5: f32 = 0.0
        %6: f32 = -0.0
        %7: i32 = 0
        %8: bool = false
        print %5, %6, %5, %7, %8
    """
    assert change(before, merge_common) == lines(after)


def test_nans_are_merged() -> None:
    before = """
        %5: f32 = nan
        %6: f32 = nan
        print %5, %6
    """
    after = """
        %5: f32 = nan
        print %5, %5
    """
    assert change(before, merge_common) == lines(after)


def test_ops_with_other_attributes_are_kept_apart() -> None:
    before = """
        %5: i32[4] = arange start=0 size=4
        %6: i32[4] = arange start=1 size=4
        %7: i32[4] = arange start=0 size=4
        store %out.0[%5] = %6
        store %out.0[%7] = %6
    """
    after = """
        %5: i32[4] = arange start=0 size=4
        %6: i32[4] = arange start=1 size=4
        store %out.0[%5] = %6
        store %out.0[%5] = %6
    """
    assert change(before, merge_common) == lines(after)


def test_loads_are_not_merged() -> None:
    ops = """
        %5: i32 = load %out.0[%n.1]
        store %out.0[%n.1] = %n.1
        %6: i32 = load %out.0[%n.1]
        store %out.0[%5] = %6
    """
    assert change(ops, merge_common) == lines(ops)
