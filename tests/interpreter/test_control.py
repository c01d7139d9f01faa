"""Branches and loops whose lanes diverge."""

from __future__ import annotations

import numpy as np
import pytest

from eas.ir.text import parse_function
from eas.ir.types import DTYPES
from eas.runtime.errors import KernelError
from eas.runtime.interpreter import run
from tests.interpreter.running import arrays_after, lines_of


def zeros(size: int) -> np.ndarray:
    return np.zeros(size, np.int32)


def test_a_scalar_condition_may_differ_between_programs() -> None:
    text = """kernel k(%x.0: *i32) from "k.py" {
      %1: i32 = program_id axis=0
      %2: i32 = 2
      %3: bool = lt %1, %2
      %4: i32 = if %3 {
        %5: i32 = add %1, %2
        yield %5
      } else {
        %6: i32 = mul %1, %2
        yield %6
      }
      store %x.0[%1] = %4
    }"""
    assert arrays_after(text, zeros(5), grid=(5,))[0].tolist() == [2, 3, 4, 6, 8]


def test_a_reduction_below_a_scalar_condition_sees_all_lanes_of_its_program() -> None:
    text = """kernel k(%x.0: *i32) from "k.py" {
      %1: i32 = program_id axis=0
      %2: i32 = 1
      %3: bool = lt %1, %2
      if %3 {
        %4: i32[4] = arange start=0 size=4
        %5: i32 = reduce_sum %4 axis=none
        store %x.0[%1] = %5
      }
    }"""
    assert arrays_after(text, zeros(3), grid=(3,))[0].tolist() == [6, 0, 0]


def test_a_scalar_store_below_a_split_happens_if_any_lane_is_there() -> None:
    text = """kernel k(%x.0: *i32) from "k.py" {
      %1: i32 = program_id axis=0
      %2: i32[3] = arange start=0 size=3
      %3: i32[3] = splat %1 shape=[3]
      %4: bool[3] = lt %2, %3
      if %4 {
        %5: i32 = 7
        store %x.0[%1] = %5
      }
    }"""
    assert arrays_after(text, zeros(4), grid=(4,))[0].tolist() == [0, 7, 7, 7]


def test_a_column_below_a_split_by_a_matrix_is_there_if_any_of_its_row_is() -> None:
    text = """kernel k(%x.0: *i32) from "k.py" {
      %1: i32[3] = arange start=0 size=3
      %2: i32[3, 1] = expand_dims %1 axis=1
      %3: i32[3, 2] = broadcast %2 shape=[3, 2]
      %4: i32[2] = arange start=0 size=2
      %5: i32[1, 2] = expand_dims %4 axis=0
      %6: i32[3, 2] = broadcast %5 shape=[3, 2]
      %7: bool[3, 2] = lt %6, %3
      if %7 {
        store %x.0[%2] = %2
        print %2, " ", %3
      }
    }"""
    assert arrays_after(text, np.full(3, 9, np.int32))[0].tolist() == [9, 1, 2]
    assert lines_of(text, zeros(3)) == ["1 1", "2 2", "2 2"]


def test_both_branches_may_leave_the_loop() -> None:
    text = """kernel k(%x.0: *i32) from "k.py" {
      %1: i32[6] = arange start=0 size=6
      %2: i32 = 0
      %3: i32 = 4
      %4: i32 = 1
      %5: i32[6] = splat %2 shape=[6]
      %6: i32[6] = for %7: i32 = %2 .. %3 by %4 carrying (%8: i32[6] = %5) {
        %9: i32[6] = add %8, %1
        %10: i32[6] = splat %7 shape=[6]
        %11: bool[6] = lt %10, %1
        if %11 {
          continue %9
        } else {
          break %10
        }
        yield %8
      } else (%12: i32[6]) {
        yield %12
      }
      store %x.0[%1] = %6
    }"""

    def lane(number: int) -> int:
        total = 0
        for i in range(4):
            total += number
            if i < number:
                continue
            return i
        return total

    assert arrays_after(text, zeros(6))[0].tolist() == [lane(i) for i in range(6)]


def test_lanes_leave_a_while_loop_one_by_one() -> None:
    text = """kernel collatz(%x.0: *i32) from "k.py" {
      %1: i32 = program_id axis=0
      %2: i32 = 16
      %3: i32 = mul %1, %2
      %4: i32[16] = splat %3 shape=[16]
      %5: i32[16] = arange start=0 size=16
      %6: i32[16] = add %4, %5
      %7: i32 = 1
      %8: i32[16] = splat %7 shape=[16]
      %9: i32[16] = add %6, %8
      %10: i32 = 0
      %11: i32[16] = while (%12: i32[16] = %9, %13: i32 = %10) {
        %14: bool[16] = gt %12, %8
        condition %14 with %12, %13
      } do (%15: i32[16], %16: i32) {
        %17: i32[16] = and %15, %8
        %18: bool[16] = eq %17, %8
        %19: i32[16] = if %18 {
          %20: i32 = 3
          %21: i32[16] = splat %20 shape=[16]
          %22: i32[16] = mul %15, %21
          %23: i32[16] = add %22, %8
          yield %23
        } else {
          %24: i32[16] = shr %15, %8
          yield %24
        }
        %25: i32 = add %16, %7
        yield %19, %25
      } else (%26: i32[16], %27: i32) {
        %28: i32[16] = splat %27 shape=[16]
        yield %28
      }
      store %x.0[%6] = %11
    }"""

    def steps(number: int) -> int:
        count = 0
        while number > 1:
            number = 3 * number + 1 if number % 2 else number // 2
            count += 1
        return count

    wanted = [steps(i + 1) for i in range(80)]
    assert arrays_after(text, zeros(80), grid=(5,))[0].tolist() == wanted


def test_break_skips_the_else_of_its_loop_only_for_the_lanes_that_break() -> None:
    text = """kernel k(%x.0: *i32) from "k.py" {
      %1: i32[4] = arange start=0 size=4
      %2: i32 = 0
      %3: i32 = 3
      %4: i32 = 1
      %5: i32[4] = for %6: i32 = %2 .. %3 by %4 {
        %7: i32[4] = splat %6 shape=[4]
        %8: bool[4] = eq %7, %1
        if %8 {
          break %7
        }
        yield
      } else {
        %9: i32 = 100
        %10: i32[4] = splat %9 shape=[4]
        print "else of ", %1
        yield %10
      }
      store %x.0[%1] = %5
    }"""
    assert arrays_after(text, zeros(4))[0].tolist() == [0, 1, 2, 100]
    assert lines_of(text, zeros(4)) == ["else of 3"]


def test_the_else_of_an_inner_loop_may_break_the_outer_one() -> None:
    text = """kernel k(%x.0: *i32) from "k.py" {
      %1: i32 = program_id axis=0
      %2: i32 = 0
      %3: i32 = 5
      %4: i32 = 1
      %5: i32 = for %6: i32 = %2 .. %3 by %4 carrying (%7: i32 = %2) {
        for %8: i32 = %2 .. %3 by %4 {
          %9: i32 = add %6, %8
          %10: bool = eq %9, %1
          if %10 {
            break
          }
        } else {
          break %6
        }
        %11: i32 = add %7, %4
        yield %11
      } else (%12: i32) {
        %13: i32 = add %12, %3
        yield %13
      }
      store %x.0[%1] = %5
    }"""

    def program(number: int) -> int:
        rounds = 0
        for i in range(5):
            for j in range(5):
                if i + j == number:
                    break
            else:
                return i
            rounds += 1
        return rounds + 5

    assert arrays_after(text, zeros(7), grid=(7,))[0].tolist() == [program(i) for i in range(7)]


@pytest.mark.parametrize("bounds", [(0, 5, 1), (5, 0, -2), (3, 3, 1), (4, 1, 1), (0, 7, 3)])
def test_for_counts_as_range_does(bounds: tuple[int, int, int]) -> None:
    text = """kernel k(%a.0: i32, %b.1: i32, %c.2: i32) from "k.py" {
      for %3: i32 = %a.0 .. %b.1 by %c.2 {
        print %3
      }
    }"""
    assert lines_of(text, *bounds) == [str(i) for i in range(*bounds)]


def test_bounds_may_differ_in_each_lane() -> None:
    text = """kernel k(%a.0: *i32, %b.1: *i32, %c.2: *i32) from "k.py" {
      %3: i32[4] = arange start=0 size=4
      %4: i32[4] = load %a.0[%3]
      %5: i32[4] = load %b.1[%3]
      %6: i32[4] = load %c.2[%3]
      for %7: i32[4] = %4 .. %5 by %6 {
        print %3, " ", %7
      }
    }"""
    bounds = [(0, 3, 1), (9, 2, -3), (1, 0, 1), (-4, 4, 5)]
    arrays = [np.array(column, np.int32) for column in zip(*bounds, strict=True)]
    printed = lines_of(text, *arrays)
    wanted = [f"{lane} {i}" for lane in range(4) for i in range(*bounds[lane])]
    assert sorted(printed) == sorted(wanted)


@pytest.mark.parametrize("name", ["i8", "i16", "i32", "i64", "u8", "u64"])
def test_trips_are_counted_exactly_at_the_ends_of_a_dtype(name: str) -> None:
    text = f"""kernel k(%a.0: *{name}, %b.1: {name}) from "k.py" {{
      %2: i32 = program_id axis=0
      %3: {name} = load %a.0[%2]
      %4: {name} = {DTYPES[name].max // 2}
      for %5: {name} = %3 .. %b.1 by %4 {{
        print %2, " ", %5
      }}
    }}"""
    dtype = DTYPES[name]
    starts = [dtype.min, dtype.min + 1, dtype.max - 1, dtype.max]
    printed = lines_of(text, np.array(starts, dtype.numpy), dtype.numpy.type(dtype.max), grid=(4,))
    step = dtype.max // 2
    wanted = [f"{p} {i}" for p in range(4) for i in range(starts[p], dtype.max, step)]
    assert printed == wanted


def test_a_step_down_to_the_least_int_is_exact() -> None:
    text = """kernel k(%a.0: i64, %b.1: i64, %c.2: i64) from "k.py" {
      for %3: i64 = %a.0 .. %b.1 by %c.2 {
        print %3
      }
    }"""
    low, high = DTYPES["i64"].min, DTYPES["i64"].max
    bounds = (np.int64(high), np.int64(low), np.int64(low))
    assert lines_of(text, *bounds) == [str(i) for i in range(high, low, low)]


def test_a_loop_carries_scalars_while_its_results_are_blocks() -> None:
    text = """kernel k(%x.0: *i32) from "k.py" {
      %1: i32[5] = arange start=0 size=5
      %2: i32 = 0
      %3: i32 = 9
      %4: i32 = 1
      %5: i32[5] = for %6: i32 = %2 .. %3 by %4 carrying (%7: i32 = %4) {
        %8: i32 = add %7, %7
        %9: i32[5] = splat %6 shape=[5]
        %10: bool[5] = eq %9, %1
        if %10 {
          %11: i32[5] = splat %8 shape=[5]
          break %11
        }
        yield %8
      } else (%12: i32) {
        %13: i32[5] = splat %12 shape=[5]
        yield %13
      }
      store %x.0[%1] = %5
    }"""
    assert arrays_after(text, zeros(5))[0].tolist() == [2, 4, 8, 16, 32]


def test_nothing_runs_after_all_lanes_have_left() -> None:
    text = """kernel k(%x.0: *i32) from "k.py" {
      %1: i32 = 0
      %2: i32 = 1
      for %3: i32 = %1 .. %2 by %2 {
        %4: bool = true
        if %4 {
          break
        }
        store %x.0[%1] = %2
      }
    }"""
    assert arrays_after(text, zeros(1))[0].tolist() == [0]


def test_an_inactive_lane_does_not_fault() -> None:
    text = """kernel k(%x.0: *i32) from "k.py" {
      %1: i32[4] = arange start=0 size=4
      %2: i32 = 0
      %3: i32[4] = splat %2 shape=[4]
      %4: i32 = 12
      %5: i32[4] = splat %4 shape=[4]
      %6: bool[4] = ne %1, %3
      if %6 {
        %7: i32[4] = floordiv %5, %1
        %8: bool[4] = gt %1, %3
        assert %8, "only lanes that are here"
        store %x.0[%1] = %7
      }
    }"""
    assert arrays_after(text, zeros(4))[0].tolist() == [0, 12, 6, 4]


def test_an_empty_grid_runs_nothing() -> None:
    text = """kernel k() from "k.py" {
      print "here"
    }"""
    assert lines_of(text, grid=(3, 0)) == []


@pytest.mark.parametrize("grid", [(), (1, 1, 1, 1), (2, -1)])
def test_a_grid_of_another_form_is_refused(grid: tuple[int, ...]) -> None:
    text = """kernel k() from "k.py" {
    }"""
    with pytest.raises(ValueError, match=r"^a grid has one to three extents"):
        lines_of(text, grid=grid)


def test_lanes_leave_a_scope_from_inside_of_loops() -> None:
    text = """kernel k(%x.0: *i32) from "k.py" {
      %1: i32[4] = arange start=0 size=4
      %2: i32 = 0
      %3: i32 = 1
      %4: i32 = 3
      %5: i32[4] = splat %2 shape=[4]
      %found.6: i32[4] = scope 1 {
        for %i.7: i32 = %2 .. %4 by %3 {
          for %j.8: i32 = %2 .. %4 by %3 {
            %9: i32 = mul %i.7, %4
            %10: i32 = add %9, %j.8
            %11: i32[4] = splat %10 shape=[4]
            %12: i32[4] = add %1, %1
            %13: bool[4] = eq %11, %12
            if %13 {
              %14: i32 = 10
              %15: i32[4] = splat %14 shape=[4]
              %16: i32[4] = mul %11, %15
              leave 1 %16
            }
          }
        }
        %17: i32 = -1
        %18: i32[4] = splat %17 shape=[4]
        yield %18
      }
      store %x.0[%1] = %found.6
    }"""
    assert arrays_after(text, zeros(4))[0].tolist() == [0, 20, 40, 60]
    assert arrays_after(text.replace("%12: i32[4] = add", "%12: i32[4] = mul"), zeros(4))[
        0
    ].tolist() == [0, 10, 40, -1]


def test_programs_print_in_the_order_of_the_grid() -> None:
    text = """kernel k() from "k.py" {
      %1: i32 = program_id axis=0
      print "first ", %1
      %2: i32[2] = arange start=0 size=2
      print "second ", %1, " ", %2
      %3: f32 = 0.1
      %4: bool = true
      print %3, " ", %4
    }"""
    wanted = [
        line
        for p in range(3)
        for line in (f"first {p}", f"second {p} 0", f"second {p} 1", "0.1 True")
    ]
    assert lines_of(text, grid=(3,)) == wanted


def test_what_was_printed_before_a_fault_is_shown() -> None:
    function = parse_function("""kernel k() from "k.py" {
      %1: bool = false
      print "before"
      assert %1, ""
      print "after"
    }""")
    printed: list[str] = []
    with pytest.raises(KernelError):
        run(function, [], (1,), program_output=printed.append)
    assert printed == ["before"]
