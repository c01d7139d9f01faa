"""The pass `exits`: what scopes become, and that nothing else changes."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eas.ir.nodes import Function, Leave, Scope, walk
from eas.ir.passes.exits import lower_exits
from eas.ir.stages import CORE
from eas.ir.text import parse_function, print_function
from eas.ir.verify import verify
from tests.ir.lanes import Event, run_lane
from tests.ir.programs import LANES, write_function
from tests.ir.strategies import functions
from tests.ir.texts import change, function_of, lines


def test_the_code_after_an_exit_goes_to_the_other_branch() -> None:
    before = """
        %r.5: i32 = scope 1 {
          %6: i32 = 1
          if %a.3 {
            leave 1 %6
          }
          store %out.0[%n.1] = %n.1
          yield %n.1
        }
        store %out.0[%r.5] = %r.5
    """
    after = """
        %5: i32 = 1
        %r.6: i32 = if %a.3 {
          yield %5
        } else {
          store %out.0[%n.1] = %n.1
          yield %n.1
        }
        store %out.0[%r.6] = %r.6
    """
    assert change(before, lower_exits) == lines(after)


def test_the_code_after_a_branch_that_goes_on_goes_into_it() -> None:
    before = """
        scope 1 {
          %y.5: i32 = if %a.3 {
            store %out.0[%n.1] = %n.1
            yield %n.1
          } else {
            leave 1
          }
          store %out.0[%y.5] = %n.1
        }
    """
    after = """
        if %a.3 {
          store %out.0[%n.1] = %n.1
          store %out.0[%n.1] = %n.1
        }
    """
    assert change(before, lower_exits) == lines(after)


def test_where_two_paths_go_on_a_flag_says_which_lanes_left() -> None:
    before = """
        %r.5: i32 = scope 1 {
          %6: i32 = 6
          %y.7: i32 = if %a.3 {
            if %b.4 {
              leave 1 %6
            }
            store %out.0[%n.1] = %6
            yield %6
          } else {
            yield %n.1
          }
          store %out.0[%y.7] = %n.1
          yield %y.7
        }
        store %out.0[%r.5] = %r.5
    """
    after = """
        %5: i32 = 6
        %y.6: i32, %left.7: bool, %r.8: i32 = if %a.3 {
          %y.9: i32, %left.10: bool, %r.11: i32 = if %b.4 {
            %12: i32 = 0
            %13: bool = true
            yield %12, %13, %5
          } else {
            store %out.0[%n.1] = %5
            %14: i32 = 0
            %15: bool = false
            yield %5, %15, %14
          }
          yield %y.9, %left.10, %r.11
        } else {
          %16: i32 = 0
          %17: bool = false
          yield %n.1, %17, %16
        }
        %r.18: i32 = if %left.7 {
          yield %r.8
        } else {
          store %out.0[%y.6] = %n.1
          yield %y.6
        }
        store %out.0[%r.18] = %r.18
    """
    assert change(before, lower_exits) == lines(after)


def test_a_yield_after_two_paths_goes_into_both() -> None:
    before = """
        %r.5: i32 = scope 1 {
          %y.6: i32 = if %a.3 {
            if %b.4 {
              leave 1 %n.1
            }
            store %out.0[%n.1] = %n.1
            yield %n.1
          } else {
            %8: i32 = 8
            yield %8
          }
          yield %y.6
        }
        store %out.0[%r.5] = %r.5
    """
    after = """
        %r.5: i32 = if %a.3 {
          %r.6: i32 = if %b.4 {
            yield %n.1
          } else {
            store %out.0[%n.1] = %n.1
            yield %n.1
          }
          yield %r.6
        } else {
          %7: i32 = 8
          yield %7
        }
        store %out.0[%r.5] = %r.5
    """
    assert change(before, lower_exits) == lines(after)


def test_leaving_the_outer_scope_skips_the_rest_of_both() -> None:
    before = """
        %r.5: i32 = scope 1 {
          %s.6: i32 = scope 2 {
            if %a.3 {
              leave 1 %n.1
            }
            if %b.4 {
              leave 2 %n.1
            }
            store %out.0[%n.1] = %n.1
            %7: i32 = 7
            yield %7
          }
          store %out.0[%s.6] = %s.6
          yield %s.6
        }
        store %out.0[%r.5] = %r.5
    """
    after = """
        %r.5: i32 = if %a.3 {
          yield %n.1
        } else {
          %s.6: i32 = if %b.4 {
            yield %n.1
          } else {
            store %out.0[%n.1] = %n.1
            %7: i32 = 7
            yield %7
          }
          store %out.0[%s.6] = %s.6
          yield %s.6
        }
        store %out.0[%r.5] = %r.5
    """
    assert change(before, lower_exits) == lines(after)


def test_a_result_that_is_the_same_on_all_paths_is_not_joined() -> None:
    before = """
        %r.5: i32, %s.6: i32 = scope 1 {
          %7: i32 = 7
          if %a.3 {
            leave 1 %n.1, %7
          }
          store %out.0[%n.1] = %7
          yield %7, %7
        }
        store %out.0[%r.5] = %s.6
    """
    after = """
        %5: i32 = 7
        %r.6: i32 = if %a.3 {
          yield %n.1
        } else {
          store %out.0[%n.1] = %5
          yield %5
        }
        store %out.0[%r.6] = %5
    """
    assert change(before, lower_exits) == lines(after)


def test_code_that_is_never_reached_gets_no_results() -> None:
    before = """
        %5: i32 = 0
        %6: i32 = 1
        for %i.7: i32 = %5 .. %n.1 by %6 {
          scope 1 {
            if %a.3 {
              leave 1
            }
            if %b.4 {
              break
            } else {
              continue
            }
          }
          store %out.0[%i.7] = %i.7
        }
    """
    after = """
        %5: i32 = 0
        %6: i32 = 1
        for %i.7: i32 = %5 .. %n.1 by %6 {
          if %a.3 {
          } else {
            if %b.4 {
              break
            } else {
              continue
            }
          }
          store %out.0[%i.7] = %i.7
        }
    """
    assert change(before, lower_exits) == lines(after)


def test_the_code_after_a_loop_that_is_left_goes_to_its_orelse() -> None:
    before = """
        %r.5: i32 = scope 1 {
          %6: i32 = 0
          %7: i32 = 1
          for %i.8: i32 = %6 .. %n.1 by %7 {
            %v.9: i32 = load %out.0[%i.8]
            %10: bool = eq %v.9, %n.1
            if %10 {
              leave 1 %i.8
            }
          }
          %11: i32 = -1
          yield %11
        }
        store %out.0[%r.5] = %r.5
    """
    after = """
        %5: i32 = 0
        %6: i32 = 1
        %r.7: i32 = for %i.8: i32 = %5 .. %n.1 by %6 {
          %v.9: i32 = load %out.0[%i.8]
          %10: bool = eq %v.9, %n.1
          if %10 {
            break %i.8
          }
        } else {
          %11: i32 = -1
          yield %11
        }
        store %out.0[%r.7] = %r.7
    """
    assert change(before, lower_exits) == lines(after)


def test_a_loop_with_breaks_of_its_own_gets_a_flag() -> None:
    before = """
        scope 1 {
          %5: i32 = 0
          %6: i32 = 1
          %last.7: i32 = for %i.8: i32 = %5 .. %n.1 by %6 {
            %v.9: i32 = load %out.0[%i.8]
            %10: bool = eq %v.9, %5
            if %10 {
              leave 1
            }
            %11: bool = eq %v.9, %6
            if %11 {
              break %i.8
            }
          } else {
            yield %n.1
          }
          store %out.0[%last.7] = %5
        }
    """
    after = """
        %5: i32 = 0
        %6: i32 = 1
        %last.7: i32, %left.8: bool = for %i.9: i32 = %5 .. %n.1 by %6 {
          %v.10: i32 = load %out.0[%i.9]
          %11: bool = eq %v.10, %5
          if %11 {
            %12: i32 = 0
            %13: bool = true
            break %12, %13
          }
          %14: bool = eq %v.10, %6
          if %14 {
            %15: bool = false
            break %i.9, %15
          }
        } else {
          %16: bool = false
          yield %n.1, %16
        }
        if %left.8 {
        } else {
          store %out.0[%last.7] = %5
        }
    """
    assert change(before, lower_exits) == lines(after)


def test_leaving_two_loops_breaks_both() -> None:
    before = """
        scope 1 {
          %5: i32 = 0
          %6: i32 = 1
          for %i.7: i32 = %5 .. %n.1 by %6 {
            for %j.8: i32 = %5 .. %i.7 by %6 {
              %v.9: i32 = load %out.0[%j.8]
              %10: bool = eq %v.9, %i.7
              if %10 {
                leave 1
              }
            }
            store %out.0[%i.7] = %5
          }
          store %out.0[%n.1] = %6
        }
    """
    after = """
        %5: i32 = 0
        %6: i32 = 1
        for %i.7: i32 = %5 .. %n.1 by %6 {
          %left.8: bool = for %j.9: i32 = %5 .. %i.7 by %6 {
            %v.10: i32 = load %out.0[%j.9]
            %11: bool = eq %v.10, %i.7
            if %11 {
              %12: bool = true
              break %12
            }
          } else {
            %13: bool = false
            yield %13
          }
          if %left.8 {
            break
          }
          store %out.0[%i.7] = %5
        } else {
          store %out.0[%n.1] = %6
        }
    """
    assert change(before, lower_exits) == lines(after)


def test_the_flag_of_lanes_is_a_block() -> None:
    before = """
        %l.5: i32[4] = arange start=0 size=4
        %r.6: i32[4] = scope 1 {
          %7: i32[4] = splat %n.1 shape=[4]
          %8: bool[4] = lt %l.5, %7
          %y.9: i32[4] = if %a.3 {
            if %8 {
              leave 1 %7
            }
            store %out.0[%l.5] = %7
            yield %7
          } else {
            yield %l.5
          }
          store %out.0[%l.5] = %y.9
          yield %l.5
        }
        store %out.0[%l.5] = %r.6
    """
    after = """
        %l.5: i32[4] = arange start=0 size=4
        %6: i32[4] = splat %n.1 shape=[4]
        %7: bool[4] = lt %l.5, %6
        %y.8: i32[4], %left.9: bool[4], %r.10: i32[4] = if %a.3 {
          %y.11: i32[4], %left.12: bool[4], %r.13: i32[4] = if %7 {
            %14: i32 = 0
            %15: i32[4] = splat %14 shape=[4]
            %16: bool = true
            %17: bool[4] = splat %16 shape=[4]
            yield %15, %17, %6
          } else {
            store %out.0[%l.5] = %6
            %18: i32 = 0
            %19: i32[4] = splat %18 shape=[4]
            %20: bool = false
            %21: bool[4] = splat %20 shape=[4]
            yield %6, %21, %19
          }
          yield %y.11, %left.12, %r.13
        } else {
          %22: i32 = 0
          %23: i32[4] = splat %22 shape=[4]
          %24: bool = false
          %25: bool[4] = splat %24 shape=[4]
          yield %l.5, %25, %23
        }
        %r.26: i32[4] = if %left.9 {
          yield %r.10
        } else {
          store %out.0[%l.5] = %y.8
          yield %l.5
        }
        store %out.0[%l.5] = %r.26
    """
    assert change(before, lower_exits) == lines(after)


def test_lanes_that_leave_a_loop_one_by_one_get_a_flag_each() -> None:
    before = """
        %l.5: i32[4] = arange start=0 size=4
        scope 1 {
          %6: i32 = 0
          %7: i32 = 1
          %last.8: i32[4] = for %i.9: i32 = %6 .. %n.1 by %7 {
            %10: i32[4] = splat %i.9 shape=[4]
            %11: bool[4] = eq %l.5, %10
            if %11 {
              leave 1
            }
            if %a.3 {
              break %10
            }
          } else {
            yield %l.5
          }
          store %out.0[%l.5] = %last.8
        }
    """
    after = """
        %l.5: i32[4] = arange start=0 size=4
        %6: i32 = 0
        %7: i32 = 1
        %last.8: i32[4], %left.9: bool[4] = for %i.10: i32 = %6 .. %n.1 by %7 {
          %11: i32[4] = splat %i.10 shape=[4]
          %12: bool[4] = eq %l.5, %11
          if %12 {
            %13: i32 = 0
            %14: i32[4] = splat %13 shape=[4]
            %15: bool = true
            %16: bool[4] = splat %15 shape=[4]
            break %14, %16
          }
          if %a.3 {
            %17: bool = false
            %18: bool[4] = splat %17 shape=[4]
            break %11, %18
          }
        } else {
          %19: bool = false
          %20: bool[4] = splat %19 shape=[4]
          yield %l.5, %20
        }
        if %left.9 {
        } else {
          store %out.0[%l.5] = %last.8
        }
    """
    assert change(before, lower_exits) == lines(after)


def test_the_flag_covers_all_conditions_on_the_way() -> None:
    before = """
        %5: i32[4] = arange start=0 size=4
        %rows.6: i32[4, 1] = expand_dims %5 axis=1
        %columns.7: i32[1, 4] = expand_dims %5 axis=0
        %8: i32[4, 1] = splat %n.1 shape=[4, 1]
        %9: bool[4, 1] = lt %rows.6, %8
        %10: i32[1, 4] = splat %n.1 shape=[1, 4]
        %11: bool[1, 4] = lt %columns.7, %10
        scope 1 {
          if %a.3 {
            if %9 {
              if %11 {
                leave 1
              }
            }
            store %out.0[%rows.6] = %8
          }
          store %out.0[%columns.7] = %10
        }
    """
    after = """
        %5: i32[4] = arange start=0 size=4
        %rows.6: i32[4, 1] = expand_dims %5 axis=1
        %columns.7: i32[1, 4] = expand_dims %5 axis=0
        %8: i32[4, 1] = splat %n.1 shape=[4, 1]
        %9: bool[4, 1] = lt %rows.6, %8
        %10: i32[1, 4] = splat %n.1 shape=[1, 4]
        %11: bool[1, 4] = lt %columns.7, %10
        %left.12: bool[4, 4] = if %a.3 {
          %left.13: bool[4, 4] = if %9 {
            %left.14: bool[4, 4] = if %11 {
              %15: bool = true
              %16: bool[4, 4] = splat %15 shape=[4, 4]
              yield %16
            } else {
              %17: bool = false
              %18: bool[4, 4] = splat %17 shape=[4, 4]
              yield %18
            }
            yield %left.14
          } else {
            %19: bool = false
            %20: bool[4, 4] = splat %19 shape=[4, 4]
            yield %20
          }
          %left.21: bool[4, 4] = if %left.13 {
            %22: bool = true
            %23: bool[4, 4] = splat %22 shape=[4, 4]
            yield %23
          } else {
            store %out.0[%rows.6] = %8
            %24: bool = false
            %25: bool[4, 4] = splat %24 shape=[4, 4]
            yield %25
          }
          yield %left.21
        } else {
          %26: bool = false
          %27: bool[4, 4] = splat %26 shape=[4, 4]
          yield %27
        }
        if %left.12 {
        } else {
          store %out.0[%columns.7] = %10
        }
    """
    assert change(before, lower_exits) == lines(after)


def test_lanes_that_end_a_loop_one_by_one_go_on_together() -> None:
    before = """
        %l.5: i32[4] = arange start=0 size=4
        %r.6: i32[4] = scope 1 {
          %m.7: i32[4] = while (%c.8: i32[4] = %l.5) {
            %9: i32[4] = splat %n.1 shape=[4]
            %10: bool[4] = lt %c.8, %9
            condition %10 with %c.8
          } do (%c.11: i32[4]) {
            if %a.3 {
              leave 1 %l.5
            }
            %12: i32[4] = add %c.11, %c.11
            yield %12
          } else (%c.13: i32[4])
          store %out.0[%n.1] = %n.1
          yield %m.7
        }
        store %out.0[%l.5] = %r.6
    """
    after = """
        %l.5: i32[4] = arange start=0 size=4
        %m.6: i32[4], %left.7: bool[4], %r.8: i32[4] = while (%c.9: i32[4] = %l.5) {
          %10: i32[4] = splat %n.1 shape=[4]
          %11: bool[4] = lt %c.9, %10
          condition %11 with %c.9
        } do (%c.12: i32[4]) {
          if %a.3 {
            %13: i32 = 0
            %14: i32[4] = splat %13 shape=[4]
            %15: bool = true
            %16: bool[4] = splat %15 shape=[4]
            break %14, %16, %l.5
          }
          %17: i32[4] = add %c.12, %c.12
          yield %17
        } else (%c.18: i32[4]) {
          %19: i32 = 0
          %20: i32[4] = splat %19 shape=[4]
          %21: bool = false
          %22: bool[4] = splat %21 shape=[4]
          yield %c.18, %22, %20
        }
        %r.23: i32[4] = if %left.7 {
          yield %r.8
        } else {
          store %out.0[%n.1] = %n.1
          yield %m.6
        }
        store %out.0[%l.5] = %r.23
    """
    assert change(before, lower_exits) == lines(after)


def test_a_scalar_of_the_lanes_that_stay_is_not_joined() -> None:
    before = """
        %l.5: i32[4] = arange start=0 size=4
        %6: i32[4] = splat %n.1 shape=[4]
        %7: bool[4] = lt %l.5, %6
        scope 1 {
          %s.8: i32 = if %a.3 {
            if %7 {
              leave 1
            }
            %9: i32 = add %n.1, %n.1
            yield %9
          } else {
            yield %n.1
          }
          store %out.0[%s.8] = %s.8
        }
    """
    after = """
        %l.5: i32[4] = arange start=0 size=4
        %6: i32[4] = splat %n.1 shape=[4]
        %7: bool[4] = lt %l.5, %6
        if %a.3 {
          if %7 {
          } else {
            %8: i32 = add %n.1, %n.1
            store %out.0[%8] = %8
          }
        } else {
          store %out.0[%n.1] = %n.1
        }
    """
    assert change(before, lower_exits) == lines(after)


def traces(f: Function) -> list[list[Event]]:
    """What each lane does, for a few arguments."""
    inputs = [(s0, s1) for s0 in (0, 1, 2) for s1 in (-1, 2)]
    return [
        run_lane(f, {"out": [0] * 64, "s0": s0, "s1": s1}, lane)
        for s0, s1 in inputs
        for lane in range(LANES)
    ]


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_every_lane_does_what_it_did_with_scopes(seed: int, depth: int) -> None:
    f = write_function(Random(seed).randrange, depth)
    verify(f)
    lowered = lower_exits(f)
    verify(lowered, CORE)
    assert traces(lowered) == traces(f)


@given(functions())
def test_no_scope_is_left(f: Function) -> None:
    lowered = lower_exits(f)
    verify(lowered, CORE)
    assert not any(isinstance(op, Scope | Leave) for op in walk(lowered.body))


def test_a_function_without_scopes_stays_as_it_is() -> None:
    f = function_of("store %out.0[%n.1] = %n.1")
    assert lower_exits(f) is f


def test_places_are_kept() -> None:
    text = """\
kernel f(%out.0: *i32, %n.1: i32, %a.2: bool) from "f.py" {
  scope 1 {                                                       @2:0-5:9
    if %a.2 {                                                     @3:4-9
      leave 1                                                     @4:8-14
    }
    store %out.0[%n.1] = %n.1                                     @5:4-9
  }
}
"""
    after = """\
kernel f(%out.0: *i32, %n.1: i32, %a.2: bool) from "f.py" {
  if %a.2 {                                                       @3:4-9
    yield                                                         @4:8-14
  } else {
    store %out.0[%n.1] = %n.1                                     @5:4-9
    yield                                                         @2:0-5:9
  }
}
"""
    assert print_function(lower_exits(parse_function(text))) == after


def test_a_scalar_result_of_a_loop_that_lanes_leave_in_different_trips_is_refused() -> None:
    f = parse_function(
        """\
kernel f(%out.0: *i32, %n.1: i32, %a.2: bool) from "f.py" {
  %3: i32[4] = arange start=0 size=4
  %4: i32[4] = splat %n.1 shape=[4]
  %5: bool[4] = lt %3, %4
  scope 1 {
    %6: i32 = 1
    %r.7: i32 = for %i.8: i32 = %6 .. %n.1 by %6 {
      if %5 {
        leave 1
      }
      if %a.2 {
        break %i.8
      }
    } else {
      yield %n.1
    }
    store %out.0[%r.7] = %r.7
  }
}
"""
    )
    with pytest.raises(
        ValueError, match="lanes leave in different trips, but a result is a scalar"
    ):
        lower_exits(f)


def test_a_branch_whose_end_is_never_reached_yields_anything() -> None:
    f = parse_function(
        """\
kernel f(%out.0: *i32, %n.1: i32, %a.2: bool, %b.3: bool) from "f.py" {
  %one.4: i32 = 1
  %two.5: i32 = 2
  for %i.6: i32 = %one.4 .. %n.1 by %one.4 {
    %r.7: i32 = scope 1 {
      if %a.2 {
        if %b.3 {
          continue
        } else {
          break
        }
        yield
      } else {
        leave 1 %one.4
      }
      yield %two.5
    }
    store %out.0[%r.7] = %r.7
  } else {
  }
}
"""
    )
    verify(lower_exits(f), CORE)
