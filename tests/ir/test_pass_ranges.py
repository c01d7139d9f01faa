"""The analysis `ranges`: between which bounds the named values of a function lie."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eas.ir.passes.exits import lower_exits
from eas.ir.passes.ranges import ranges
from tests.ir.lanes import watch_lane
from tests.ir.programs import LANES, write_function
from tests.ir.texts import function_of

LEAST, MOST = -(2**31), 2**31 - 1


def bounds(ops: str) -> dict[str, tuple[int, int]]:
    """The bounds of the values with a name, without those of the parameters."""
    f = function_of(ops)
    given = {param.value for param in f.params}
    found = ranges(f).items()
    return {value.hint: pair for value, pair in found if value.hint and value not in given}


def test_constants_and_positions_have_narrow_bounds() -> None:
    ops = """
        %c.5: i32 = 7
        %lanes.6: i32[4] = arange start=2 size=4
        %program.7: i32 = program_id axis=0
    """
    assert bounds(ops) == {"c": (7, 7), "lanes": (2, 5), "program": (0, MOST)}


def test_arithmetic_adds_up_until_it_may_overflow() -> None:
    ops = """
        %5: i32[4] = arange start=0 size=4
        %6: i32 = 10
        %7: i32[4] = splat %6 shape=[4]
        %sum.8: i32[4] = add %5, %7
        %product.9: i32[4] = mul %5, %7
        %difference.10: i32[4] = sub %5, %7
        %wrapped.11: i32 = add %n.1, %6
    """
    assert bounds(ops) == {
        "sum": (10, 13),
        "product": (0, 30),
        "difference": (-10, -7),
        "wrapped": (LEAST, MOST),
    }


def test_remainders_masks_and_extremes_have_bounds_of_their_own() -> None:
    ops = """
        %5: i32 = 8
        %6: i32 = 3
        %rest.7: i32 = mod %n.1, %5
        %mask.8: i32 = and %n.1, %5
        %least.9: i32 = minimum %n.1, %5
        %clamped.10: i32 = clamp %n.1, %6, %5
        %chosen.11: i32 = select %a.3, %6, %5
    """
    assert bounds(ops) == {
        "rest": (0, 7),
        "mask": (0, 8),
        "least": (LEAST, 8),
        "clamped": (3, 8),
        "chosen": (3, 8),
    }


def test_a_branch_narrows_what_its_condition_compares() -> None:
    ops = """
        %5: i32 = 0
        %6: i32 = 10
        %7: bool = ge %n.1, %5
        %8: bool = lt %n.1, %6
        %9: bool = and %7, %8
        if %9 {
          %inside.10: i32 = add %n.1, %5
        } else {
          %outside.11: i32 = add %n.1, %5
        }
    """
    assert bounds(ops) == {"inside": (0, 9), "outside": (LEAST, MOST)}


def test_a_counter_stays_between_the_bounds_of_its_loop() -> None:
    ops = """
        %5: i32 = 2
        %6: i32 = 3
        %7: i32 = 20
        %8: i32 = -3
        for %up.9: i32 = %5 .. %7 by %6 {
        }
        for %down.10: i32 = %7 .. %5 by %8 {
        }
    """
    assert bounds(ops) == {"up": (2, 19), "down": (3, 20)}


def test_the_condition_of_a_while_bounds_what_it_carries() -> None:
    ops = """
        %5: i32 = 0
        %6: i32 = 1
        %7: i32 = 100
        %last.8: i32 = while (%tested.9: i32 = %5) {
          %10: bool = lt %tested.9, %7
          condition %10 with %tested.9
        } do (%counted.11: i32) {
          %next.12: i32 = add %counted.11, %6
          yield %next.12
        } else (%13: i32)
    """
    assert bounds(ops) == {
        "last": (100, 100),
        "tested": (0, 100),
        "counted": (0, 99),
        "next": (1, 100),
    }


def test_what_grows_without_a_limit_has_no_bounds() -> None:
    ops = """
        %5: i32 = 0
        %6: i32 = 1
        for %7: i32 = %5 .. %n.1 by %6 carrying (%sum.8: i32 = %5) {
          %9: i32 = add %sum.8, %7
          yield %9
        } else (%10: i32) {
        }
    """
    assert bounds(ops) == {"sum": (LEAST, MOST)}


@pytest.mark.parametrize("has_scopes", [False, True])
@given(st.integers(0, 2**32 - 1), st.integers(-3, 3), st.integers(-3, 3))
def test_no_value_is_ever_outside_of_its_bounds(
    has_scopes: bool, seed: int, s0: int, s1: int
) -> None:
    f = write_function(Random(seed).randrange)
    f = f if has_scopes else lower_exits(f)
    found = ranges(f)
    for lane in range(LANES):
        for value, number in watch_lane(f, {"out": [0] * 64, "s0": s0, "s1": s1}, lane):
            low, high = found.get(value, (LEAST, MOST))
            assert low <= int(number[0]) <= high
