"""Divergent lanes on the CPU: effects that stand for several of them, and their order."""

from __future__ import annotations

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.text import parse_function
from eas.runtime.cpu import Executable
from eas.runtime.interpreter import ArrayArgument


def once(effect: str, lanes: int) -> str:
    """A kernel in which all lanes but the first have an effect."""
    return f"""\
kernel once(%x.0: *i32, %out.1: *i32) from "once.py" {{
  %lanes.2: i32[{lanes}] = arange start=0 size={lanes}
  %zero.3: i32 = 0
  %one.4: i32 = 1
  %zeros.5: i32[{lanes}] = splat %zero.3 shape=[{lanes}]
  %column.6: i32[{lanes}, 1] = expand_dims %lanes.2 axis=1
  %is_later.7: bool[{lanes}] = gt %lanes.2, %zeros.5
  if %is_later.7 {{
    {effect}
  }}
}}
"""


ATOMIC = "%before.8: i32 = atomic add %x.0[%zero.3], %one.4"


@pytest.mark.parametrize("lanes", [1, 100, 5000])
def test_an_atomic_for_all_lanes_happens_once(lanes: int) -> None:
    x = np.zeros(1, "i4")
    function = parse_function(once(ATOMIC, lanes))
    Executable(function).run([ArrayArgument(x), ArrayArgument(x.copy())], (1,))
    assert x[0] == (lanes > 1)


@pytest.mark.parametrize("lanes", [1, 100, 5000])
def test_a_line_for_all_lanes_is_printed_once(lanes: int) -> None:
    x, lines = np.zeros(1, "i4"), list[str]()
    function = parse_function(once('print "here ", %one.4, ""', lanes))
    Executable(function).run([ArrayArgument(x), ArrayArgument(x)], (1,), lines.append)
    assert lines == ["here 1"] * (lanes > 1)


@eas.kernel
def notes(x, LANES: eas.constexpr):
    i = mk.arange(0, LANES)
    passed = 0
    while passed * passed < i:
        passed += 1
        x[0] = LANES  # by all lanes that are still active
        if passed > 70:
            print("one is far")
            break
        assert passed < 72, "none is farther"
    if i > 3000:
        print("there are many")
    mk.store(x, i + 1, passed)


@pytest.mark.parametrize("lanes", [1, 100, 4000, 6000])
def test_what_a_kernel_does_once_for_all_lanes_is_what_the_interpreter_does(
    lanes: int, capsys: pytest.CaptureFixture[str]
) -> None:
    results: list[tuple[list[int], str]] = []
    for backend in ("interpret", "cpu"):
        x = np.zeros(lanes + 1, "i4")
        notes[1](x, LANES=lanes, _backend=backend)
        results.append((x.tolist(), capsys.readouterr().out))
    assert results[0] == results[1]


@eas.kernel
def fill(x, trips):
    r, c = mk.arange(0, 4)[:, None], mk.arange(0, 3)[None, :]
    if mk.load(x, 3 * r + c) > 0:
        for j in range(mk.load(trips, r)):
            mk.store(x, 3 * r + c, 10 * j + c)


def test_lanes_of_a_row_run_its_loop_divergently() -> None:
    trips = np.array([0, 3, 1, 2], "i4")
    results: list[list[int]] = []
    for backend in ("interpret", "cpu"):
        x = np.array([1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1], "i4")
        fill[1](x, trips, _backend=backend)
        results.append(x.tolist())
    assert results[0] == results[1]


PRINTED = """\
kernel printed() from "printed.py" {
  %rows.0: i32[3] = arange start=0 size=3
  %columns.1: i32[20] = arange start=0 size=20
  %row.2: i32[3, 1] = expand_dims %rows.0 axis=1
  %column.3: i32[1, 20] = expand_dims %columns.1 axis=0
  %wide.4: i32[3, 20] = broadcast %row.2 shape=[3, 20]
  %high.5: i32[3, 20] = broadcast %column.3 shape=[3, 20]
  %holds.6: bool[3, 20] = lt %wide.4, %high.5
  if %holds.6 {
    print "", %row.2, ""
  }
}
"""


def test_a_column_is_printed_once_for_each_row() -> None:
    lines: list[str] = []
    Executable(parse_function(PRINTED)).run([], (1,), lines.append)
    assert sorted(lines) == ["0", "1", "2"]


LAST = """\
kernel last(%x.0: *i32, %out.1: *i32) from "last.py" {
  %lanes.2: i32[5] = arange start=0 size=5
  %zero.3: i32 = 0
  %one.4: i32 = 1
  %zeros.5: i32[5] = splat %zero.3 shape=[5]
  %ones.6: i32[5] = splat %one.4 shape=[5]
  %values.7: i32[5] = load %x.0[%lanes.2]
  %largest.8: i32 = reduce_max %values.7 axis=none
  while (%v.9: i32[5] = %values.7, %n.10: i32 = %zero.3) {
    %more.11: bool[5] = gt %v.9, %zeros.5
    condition %more.11 with %v.9, %n.10
  } do (%now.12: i32[5], %trip.13: i32) {
    %less.14: i32[5] = sub %now.12, %ones.6
    %next.15: i32 = add %trip.13, %one.4
    store %out.1[%zero.3] = %next.15
    yield %less.14, %next.15
  } else (%end.16: i32[5], %count.17: i32) {
  }
  store %out.1[%one.4] = %largest.8
}
"""


def test_the_last_store_of_the_lanes_shares_no_loop_with_a_reduction() -> None:
    x, out = np.array([3, 1, 4, 1, 5], "i4"), np.zeros(2, "i4")
    Executable(parse_function(LAST)).run([ArrayArgument(x), ArrayArgument(out)], (1,))
    assert out.tolist() == [5, 5]


CONTINUED = """\
kernel continued(%out.0: *i32) from "loops.py" {
  %lanes.1: i32[3] = arange start=0 size=3
  %one.2: i32 = 1
  %two.3: i32 = 2
  %zero.4: i32 = 0
  %none.5: i32[3] = splat %zero.4 shape=[3]
  %each.6: bool[3] = ge %lanes.1, %none.5
  while (%n.7: i32 = %two.3) {
    %less.8: i32 = sub %n.7, %one.2
    %more.9: bool = gt %n.7, %zero.4
    %all.10: bool[3] = splat %more.9 shape=[3]
    condition %all.10 with %less.8
  } do (%left.11: i32) {
    %now.12: i32[3] = splat %left.11 shape=[3]
    %step.13: i32[3] = atomic add %out.0[%lanes.1], %now.12
    if %each.6 {
      continue %left.11
    } else {
      break
    }
    yield %zero.4
  } else (%rest.14: i32) {
  }
}
"""

# Its inner loop ends only if a value numbering of LLVM is right about what outer loops carry.
NESTED = """\
kernel nested(%out.0: *i32) from "loops.py" {
  %lanes.1: i32[3] = arange start=0 size=3
  %zero.2: i32 = 0
  %one.3: i32 = 1
  %three.4: i32 = 3
  %no.5: bool = false
  %yes.6: bool = true
  %ones.7: i32[3] = splat %one.3 shape=[3]
  for %trip.8: i32 = %zero.2 .. %three.4 by %one.3 carrying (%is_later.9: bool = %no.5) {
    %later.10: bool[3] = splat %is_later.9 shape=[3]
    while (%n.11: i32 = %three.4) {
      %less.12: i32 = sub %n.11, %one.3
      %more.13: bool = gt %n.11, %zero.2
      %all.14: bool[3] = splat %more.13 shape=[3]
      %goes_on.15: bool[3] = and %all.14, %later.10
      condition %goes_on.15 with %less.12
    } do (%left.16: i32) {
      %before.17: i32[3] = load %out.0[%lanes.1]
      %after.18: i32[3] = add %before.17, %ones.7
      store %out.0[%lanes.1] = %after.18
      yield %left.16
    } else (%rest.19: i32) {
    }
    yield %yes.6
  } else (%was_later.20: bool) {
  }
}
"""


@pytest.mark.parametrize(("text", "expected"), [(CONTINUED, 1), (NESTED, 6)])
def test_loops_of_lanes_end_with_what_their_scalars_carry(text: str, expected: int) -> None:
    out = np.zeros(3, "i4")
    Executable(parse_function(text)).run([ArrayArgument(out)], (1,))
    np.testing.assert_array_equal(out, expected)


@eas.kernel
def move_in_some_lanes(x, out, n, N: eas.constexpr):
    i = mk.arange(0, N)
    u = mk.load(x, i)
    a, b, c = u > 3, i % 7 == 2, n > 1
    if i >= -n:
        c = mk.where(c, n, i % 7) >= mk.load(x, i + n)
        for _ in range(3):
            if i < 40 + n:
                mk.store(out, i + N, mk.load(x + i))
    elif a & b:
        return
    else:
        x = 1 + x
    mk.store(out, i, mk.where(c, 100, 0) + mk.load(x))


def test_an_offset_of_lanes_that_is_known_is_one_of_lanes() -> None:
    x, out = np.arange(30, dtype="i4") - 7, np.zeros(40, "i4")
    move_in_some_lanes[1](x, out, 3, N=20, _backend="cpu")
    np.testing.assert_array_equal(out[:20], np.where(x[3:23] <= 3, 100, 0) + x[0])
    np.testing.assert_array_equal(out[20:], x[:20])
