"""What the interpreter reports: the whole text, for each thing that a kernel must not do."""

from __future__ import annotations

import linecache
from collections.abc import Generator, Sequence

import numpy as np
import pytest

from eas.ir.text import parse_function
from eas.runtime.errors import KernelError
from eas.runtime.interpreter import Limits
from eas.support.diagnostics import Diagnostic
from tests.interpreter.running import CHUNKS, Argument, run_function

SOURCE = """\
def helper(x, i):
    return touch(x, i - 1)


@eas.kernel
def kernel(x, y):
    v = work(x, y)
"""


@pytest.fixture(autouse=True)
def source() -> Generator[None]:
    """The file that the reports show."""
    lines = list[str](SOURCE.splitlines(True))
    linecache.cache["kernel.py"] = (len(SOURCE), None, lines, "kernel.py")
    yield
    del linecache.cache["kernel.py"]


def report(text: str, *arguments: Argument, grid: tuple[int, ...] = (1,)) -> str:
    """The report of a kernel in `kernel.py`, which is the same for all sizes of chunks."""
    texts: set[str] = set()
    for elements in CHUNKS:
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        texts.add(report_of(text, copies, grid, Limits(100, 100, 800, elements)))
    (only,) = texts
    return only


def report_of(
    text: str, arguments: Sequence[Argument], grid: tuple[int, ...], limits: Limits
) -> str:
    with pytest.raises(KernelError) as caught:
        run_function(parse_function(text), arguments, grid, limits)
    return str(caught.value)


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.int32)


def test_a_read_out_of_bounds() -> None:
    text = """kernel k(%x.0: *i32) from "kernel.py" {
      %1: i32 = program_id axis=0
      %2: i32 = 4
      %3: i32 = mul %1, %2
      %4: i32[4] = splat %3 shape=[4]
      %5: i32[4] = arange start=0 size=4
      %6: i32[4] = add %4, %5
      %7: i32[4] = load %x.0[%6] @7:8-18
    }"""
    assert (
        report(text, zeros(2, 5), grid=(4,))
        == """\
error[R0101]: `x` is read out of bounds, at offset 10
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ offset 10
  = note: `x` has the shape (2, 5): offsets 0 to 9 are inside
  = note: program 2 of a grid of 4, lane 2
  = help: a `mask` keeps lanes away from memory"""
    )


def test_a_write_out_of_bounds_in_a_helper() -> None:
    text = """kernel k(%x.0: *i32) from "kernel.py" {
      %1: i32 = -1
      store %x.0[%1] = %1 @2:11-26 from 7:8-18
    }"""
    assert (
        report(text, zeros(3))
        == """\
error[R0102]: `x` is written out of bounds, at offset -1
 --> kernel.py:2:12
  |
2 |     return touch(x, i - 1)
  |            ^^^^^^^^^^^^^^^ offset -1
 ::: kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ---------- called from here
  = note: `x` has the shape (3,): offsets 0 to 2 are inside
  = note: program 0 of a grid of 1
  = help: a `mask` keeps lanes away from memory"""
    )


def test_an_atomic_out_of_bounds() -> None:
    text = """kernel k(%x.0: *i32) from "kernel.py" {
      %1: i32[2] = arange start=0 size=2
      %2: i32[2] = atomic add %x.0[%1], %1 @7:8-18
    }"""
    assert (
        report(text, zeros(0))
        == """\
error[R0103]: `x` is updated out of bounds, at offset 0
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ offset 0
  = note: `x` has the shape (0,): it has no elements
  = note: program 0 of a grid of 1, lane 0
  = help: a `mask` keeps lanes away from memory"""
    )


def test_a_masked_access_out_of_bounds() -> None:
    text = """kernel k(%x.0: *i32) from "kernel.py" {
      %1: i32[6] = arange start=0 size=6
      %2: i32[2, 3] = reshape %1 shape=[2, 3]
      %3: i32 = 2
      %4: i32[2, 3] = splat %3 shape=[2, 3]
      %5: bool[2, 3] = gt %2, %4
      %6: i32[2, 3] = load %x.0[%2] if %5 else %4 @7:8-18
    }"""
    assert (
        report(text, zeros(4), grid=(2, 2))
        == """\
error[R0101]: `x` is read out of bounds, at offset 4
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ offset 4
  = note: `x` has the shape (4,): offsets 0 to 3 are inside
  = note: program (0, 0) of a grid of (2, 2), lane (1, 1)"""
    )


def test_a_wild_offset() -> None:
    text = """kernel k(%x.0: *i32, %i.1: i64) from "kernel.py" {
      %2: i32 = load %x.0[%i.1] @7:8-18
    }"""
    assert (
        report(text, zeros(4), np.int64(-(2**63)))
        == """\
error[R0101]: `x` is read out of bounds, at offset -9223372036854775808
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ offset -9223372036854775808
  = note: `x` has the shape (4,): offsets 0 to 3 are inside
  = note: program 0 of a grid of 1
  = help: a `mask` keeps lanes away from memory"""
    )


def test_a_wild_unsigned_offset() -> None:
    text = """kernel k(%x.0: *i32, %i.1: u64) from "kernel.py" {
      %2: i32 = load %x.0[%i.1] @7:8-18
    }"""
    assert (
        report(text, zeros(4), np.uint64(2**64 - 1))
        == """\
error[R0101]: `x` is read out of bounds, at offset 18446744073709551615
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ offset 18446744073709551615
  = note: `x` has the shape (4,): offsets 0 to 3 are inside
  = note: program 0 of a grid of 1
  = help: a `mask` keeps lanes away from memory"""
    )


def test_an_index_out_of_bounds() -> None:
    text = """kernel k(%x.0: *i32, %n.1: i32 = extent 0 of x) from "kernel.py" {
      %2: i32[4] = arange start=0 size=4
      %3: i32[4] = splat %n.1 shape=[4]
      %4: i32[4] = index %2, %3 array="x" axis=0 @7:8-18
    }"""
    assert (
        report(text, zeros(3), 3, grid=(2,))
        == """\
error[R0104]: `x` has no index 3 along axis 0
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ index 3, but the axis has 3 elements
  = note: program 0 of a grid of 2, lane 3"""
    )


def test_a_division_by_zero() -> None:
    text = """kernel k() from "kernel.py" {
      %1: i32 = 7
      %2: i32 = program_id axis=0
      %3: i32 = floordiv %1, %2 @7:8-18
    }"""
    assert (
        report(text, grid=(2, 3, 2))
        == """\
error[R0201]: integer division by zero
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ computed from 7 and 0
  = note: program (0, 0, 0) of a grid of (2, 3, 2)"""
    )


def test_a_bad_shift() -> None:
    text = """kernel k() from "kernel.py" {
      %1: i32[10] = arange start=0 size=10
      %2: u8[10] = cast %1 dtype=u8
      %3: u8[10] = shl %2, %2 @7:8-18
    }"""
    assert (
        report(text)
        == """\
error[R0202]: shift by a negative amount or by the width or more
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ computed from 8 and 8
  = note: program 0 of a grid of 1, lane 8"""
    )


def test_a_float_that_does_not_fit() -> None:
    text = """kernel k(%x.0: f32) from "kernel.py" {
      %1: i8 = cast %x.0 dtype=i8 @7:8-18
    }"""
    assert (
        report(text, np.float32(128))
        == """\
error[R0203]: a float that does not fit is converted to an int
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ computed from 128.0
  = note: program 0 of a grid of 1"""
    )


def test_a_loop_that_does_not_end() -> None:
    text = """kernel k() from "kernel.py" {
      %1: i32[4] = arange start=0 size=4
      %2: i32 = 2
      %3: i32[4] = splat %2 shape=[4]
      while { @7:8-18
        %4: bool[4] = gt %1, %3
        condition %4
      } do {
        yield
      } else {
        yield
      }
    }"""
    assert (
        report(text)
        == """\
error[R0301]: a loop has not ended after 100 trips
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ still running
  = note: program 0 of a grid of 1, lane 3
  = help: if it is meant to run that long, set EAS_MAX_TRIPS to more"""
    )


def test_a_counted_loop_that_takes_too_long() -> None:
    text = """kernel k(%n.0: i64) from "kernel.py" {
      %1: i64 = 0
      %2: i64 = 1
      for %3: i64 = %1 .. %n.0 by %2 { @7:8-18
        yield
      } else {
        yield
      }
    }"""
    assert (
        report(text, np.int64(2**63 - 1))
        == """\
error[R0301]: a loop has not ended after 100 trips
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ still running
  = note: program 0 of a grid of 1
  = help: if it is meant to run that long, set EAS_MAX_TRIPS to more"""
    )


def test_a_loop_that_does_not_end_around_one_that_does() -> None:
    text = """kernel k() from "kernel.py" {
      %1: i32 = 0
      %2: i32 = 1
      %n.3: i32 = 90
      while { @7:8-18
        %4: bool = lt %1, %2
        condition %4
      } do {
        for %5: i32 = %1 .. %n.3 by %2 {
          yield
        } else {
          yield
        }
        yield
      } else {
        yield
      }
    }"""
    assert (
        report(text)
        == """\
error[R0301]: a loop has not ended after 9 trips, in which the loops inside kept running
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ still running
  = note: program 0 of a grid of 1
  = help: if it is meant to run that long, set EAS_MAX_TRIPS to more"""
    )


def test_a_step_of_zero() -> None:
    text = """kernel k() from "kernel.py" {
      %1: i32 = 0
      %2: i32 = 2
      for %3: i32 = %1 .. %2 by %1 { @7:8-18
        yield
      } else {
        yield
      }
    }"""
    assert (
        report(text)
        == """\
error[R0302]: the step of a `range` is zero
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ step 0
  = note: program 0 of a grid of 1"""
    )


def test_a_failed_assertion() -> None:
    text = """kernel k() from "kernel.py" threads 4 {
      %1: i32[4] = thread_index size=4
      %2: i32 = 2
      %3: i32[4] = splat %2 shape=[4]
      %4: bool[4] = lt %1, %3
      assert %4, "two is too many" @7:8-18
    }"""
    assert (
        report(text)
        == """\
error[R0401]: assertion failed: two is too many
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ false here
  = note: program 0 of a grid of 1, thread 2"""
    )


def test_an_assertion_without_a_message() -> None:
    text = """kernel k() from "kernel.py" {
      %1: bool = false
      assert %1, "" @7:8-18
    }"""
    assert (
        report(text)
        == """\
error[R0401]: assertion failed
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ false here
  = note: program 0 of a grid of 1"""
    )


def test_a_read_of_memory_that_was_never_written() -> None:
    text = """kernel k() from "kernel.py" threads 4 {
      %tile.1: *i32@threadgroup = alloc 4
      %2: i32[4] = thread_index size=4
      %3: i32 = 2
      %4: i32[4] = splat %3 shape=[4]
      %5: bool[4] = lt %2, %4
      store %tile.1[%2] = %2 if %5
      %6: i32[4] = load %tile.1[%2] @7:8-18
    }"""
    assert (
        report(text)
        == """\
error[R0105]: `tile` is read at offset 2, where nothing was written
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ offset 2
  = note: program 0 of a grid of 1, thread 2
  = help: threadgroup memory has no values before the program stores some"""
    )


def test_an_atomic_on_memory_that_was_never_written() -> None:
    text = """kernel k() from "kernel.py" {
      %1: *i32@threadgroup = alloc 4
      %2: i32 = 3
      %3: i32 = atomic add %1[%2], %2 @7:8-18
    }"""
    assert (
        report(text)
        == """\
error[R0105]: `threadgroup memory` is read at offset 3, where nothing was written
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ offset 3
  = note: program 0 of a grid of 1
  = help: threadgroup memory has no values before the program stores some"""
    )


def test_two_lanes_that_write_different_values_to_one_place() -> None:
    text = """kernel k(%x.0: *f32) from "kernel.py" {
      %1: i32[4] = arange start=0 size=4
      %2: i32 = 1
      %3: i32[4] = splat %2 shape=[4]
      %4: i32[4] = shr %1, %3
      %5: f32[4] = cast %1 dtype=f32
      store %x.0[%4] = %5 @7:8-18
    }"""
    assert (
        report(text, np.zeros(4, np.float32))
        == """\
error[R0106]: different values are written to `x`, at offset 0
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ 0.0 and 1.0 go to offset 0
  = note: 0.0 comes from program 0 of a grid of 1, lane 0
  = note: 1.0 comes from program 0 of a grid of 1, lane 1
  = help: let one lane write there, or use an atomic operation"""
    )


def test_two_programs_that_write_different_values_to_one_place() -> None:
    text = """kernel k(%x.0: *i32) from "kernel.py" {
      %1: i32 = program_id axis=0
      %2: i32 = 3
      %3: i32 = mod %1, %2
      store %x.0[%3] = %1 @7:8-18
    }"""
    assert (
        report(text, zeros(4), grid=(5,))
        == """\
error[R0106]: different values are written to `x`, at offset 0
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ 0 and 3 go to offset 0
  = note: 0 comes from program 0 of a grid of 5
  = note: 3 comes from program 3 of a grid of 5
  = help: let one lane write there, or use an atomic operation"""
    )


def test_a_program_that_replaces_what_several_wrote() -> None:
    text = """kernel k(%x.0: *i32) from "kernel.py" {
      %1: i32 = 0
      %2: i32 = 7
      store %x.0[%1] = %1
      store %x.0[%1] = %2 @7:8-18
    }"""
    assert (
        report_of(text, [zeros(1)], (5,), Limits())
        == """\
error[R0106]: different values are written to `x`, at offset 0
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ 0 and 7 go to offset 0
  = note: 0 comes from several programs
  = note: 7 comes from program 0 of a grid of 5
  = help: let one lane write there, or use an atomic operation"""
    )


def test_a_report_names_the_first_lane_that_is_there() -> None:
    text = """kernel k() from "kernel.py" {
      %1: i32 = program_id axis=0
      %2: i32 = 2
      %3: bool = ge %1, %2
      if %3 {
        %4: i32[4] = arange start=0 size=4
        %5: i32[4] = splat %2 shape=[4]
        %6: bool[4] = ge %4, %5
        if %6 {
          %7: i32[4] = sub %5, %5
          %8: i32[4] = mod %4, %7 @7:8-18
        }
      }
    }"""
    assert (
        report(text, grid=(4,))
        == """\
error[R0201]: integer division by zero
 --> kernel.py:7:9
  |
7 |     v = work(x, y)
  |         ^^^^^^^^^^ computed from 2 and 0
  = note: program 2 of a grid of 4, lane 2"""
    )


def test_what_was_stored_before_a_fault_remains() -> None:
    text = """kernel k(%x.0: *i32) from "kernel.py" {
      %1: i32 = 0
      %2: i32 = 1
      %3: bool = false
      store %x.0[%1] = %2
      assert %3, ""
      store %x.0[%1] = %1
    }"""
    x = zeros(1)
    report_of(text, [x], (1,), Limits())
    assert x.tolist() == [1]


def test_an_error_carries_its_diagnostics() -> None:
    function = parse_function("""kernel k() from "kernel.py" {
      %1: bool = false
      assert %1, "why" @7:8-18
    }""")
    with pytest.raises(KernelError) as caught:
        run_function(function, [], (1,), Limits())
    loc = function.body.ops[1].loc
    assert caught.value.diagnostics == (
        Diagnostic(
            "R0401",
            "assertion failed: why",
            loc,
            "false here",
            notes=("program 0 of a grid of 1",),
        ),
    )
