"""The analyses: which arrays a function touches, and where its lanes are split."""

from __future__ import annotations

from textwrap import dedent

from hypothesis import given

from eas.ir.analysis import Divergence, Join, Split, divergences, reads, splits, writes
from eas.ir.nodes import Barrier, For, Function, If, Print, While, walk
from eas.ir.text import parse_function
from eas.ir.types import Shape
from eas.support.location import Loc
from tests.ir.strategies import functions

HEAD = """\
kernel k(%a.0: *f32, %b.1: *f32, %d.2: *i32, %n.3: i32, %c.4: bool, %s.5: f32) from "k.py" {
  %m.6: bool[8] = splat %c.4 shape=[8]
  %r.7: bool[4, 1] = splat %c.4 shape=[4, 1]
  %q.8: bool[1, 8] = splat %c.4 shape=[1, 8]
"""


def function(body: str) -> Function:
    return parse_function(f"{HEAD}{dedent(body)}\n}}\n")


def marks(body: str) -> dict[str, tuple[Shape, int] | None]:
    """For each `print "name"`: the shape by which it is split and the line of the condition."""
    f = function(body)
    found = splits(f)
    seen: dict[str, tuple[Shape, int] | None] = {}
    for op in walk(f.body):
        if isinstance(op, Print):
            split = found.get(op.number)
            seen[str(op.parts[0])] = None if split is None else (split.shape, split.loc.line)
    return seen


def at(f: Function, line: int) -> Loc:
    """A place in the function's file, as the tests write it."""
    return Loc(f.source, line, 0, line, 1)


def test_stores_and_atomics_write_in_the_order_of_the_parameters() -> None:
    f = function("""
        %20: i32 = atomic add %d.2[%n.3], %n.3
        if %c.4 {
          store %a.0[%n.3] = %s.5
        }
        %21: f32 = load %b.1[%n.3]
        """)
    assert writes(f) == ("a", "d")


def test_loads_and_atomics_read_in_the_order_of_the_parameters() -> None:
    f = function("""
        %20: i32 = atomic add %d.2[%n.3], %n.3
        if %c.4 {
          %21: f32 = load %b.1[%n.3]
        }
        store %a.0[%n.3] = %s.5
        """)
    assert reads(f) == ("b", "d")


def test_threadgroup_memory_is_no_parameter() -> None:
    f = function("""
        %20: *f32@threadgroup = alloc 8
        store %20[%n.3] = %s.5
        """)
    assert writes(f) == ()


def test_a_block_condition_splits_its_branches() -> None:
    assert marks("""
        if %m.6 {  @7:0-1
          print "then"
        } else {
          print "else"
        }
        print "after"
        """) == {"then": ((8,), 7), "else": ((8,), 7), "after": None}


def test_a_scalar_condition_splits_nothing() -> None:
    assert marks("""
        if %c.4 {  @7:0-1
          print "then"
        }
        """) == {"then": None}


def test_conditions_inside_of_each_other_split_by_a_shape_that_covers_both() -> None:
    assert marks("""
        if %r.7 {  @7:0-1
          if %q.8 {  @8:0-1
            print "inner"
          }
          print "outer"
        }
        """) == {"inner": ((4, 8), 8), "outer": ((4, 1), 7)}


def test_the_ops_after_a_split_exit_run_for_the_other_lanes() -> None:
    assert marks("""
        scope 1 {
          print "before"
          if %c.4 {
            if %m.6 {  @7:0-1
              leave 1
            }
            print "inside"
          }
          print "after"
        }
        print "outside"
        """) == {"before": None, "inside": ((8,), 7), "after": ((8,), 7), "outside": None}


def test_lanes_that_leave_together_leave_nothing_split() -> None:
    assert marks("""
        scope 1 {
          if %m.6 {  @7:0-1
            if %c.4 {
              leave 1
            }
            print "inside"
          }
          print "after"
        }
        """) == {"inside": ((8,), 7), "after": ((8,), 7)}
    assert marks("""
        scope 1 {
          if %c.4 {
            leave 1
          }
          print "after"
        }
        """) == {"after": None}


def test_a_split_break_splits_all_of_the_loop() -> None:
    assert marks("""
        while {
          print "test"
          condition %c.4
        } do {
          print "body"
          if %m.6 {  @7:0-1
            break
          }
        } else {
          print "else"
        }
        print "after"
        """) == {"test": ((8,), 7), "body": ((8,), 7), "else": ((8,), 7), "after": None}


def test_a_split_continue_splits_the_rest_of_the_trip() -> None:
    assert marks("""
        for %20: i32 = %n.3 .. %n.3 by %n.3 {
          print "before"
          if %m.6 {  @7:0-1
            continue
          }
          print "after"
        } else {
          print "else"
        }
        """) == {"before": None, "after": ((8,), 7), "else": None}


def test_a_block_test_splits_the_loop() -> None:
    assert marks("""
        while {
          condition %m.6  @7:0-1
        } do {
          print "body"
        }
        print "after"
        """) == {"body": ((8,), 7), "after": None}


def test_lanes_that_leave_from_different_trips_are_missing_after_the_loop() -> None:
    assert marks("""
        scope 1 {
          while {
            condition %m.6  @7:0-1
          } do {
            if %c.4 {
              leave 1
            }
          }
          print "after"
        }
        """) == {"after": ((8,), 7)}


def test_an_exit_in_the_else_of_a_loop_leaves_the_loop_around() -> None:
    assert marks("""
        for %20: i32 = %n.3 .. %n.3 by %n.3 {
          print "outer"
          for %21: i32 = %n.3 .. %n.3 by %n.3 {
            print "inner"
          } else {
            if %m.6 {  @7:0-1
              break
            }
          }
          print "after"
        }
        """) == {"outer": ((8,), 7), "inner": ((8,), 7), "after": ((8,), 7)}


@given(functions())
def test_no_barrier_of_a_valid_function_is_split(f: Function) -> None:
    found = splits(f)
    assert not [op for op in walk(f.body) if isinstance(op, Barrier) and op.number in found]


def test_an_if_joins_what_its_branches_pass() -> None:
    f = function("""
        %20: f32, %21: i32 = if %m.6 {  @7:0-1
          yield %s.5, %n.3
        } else {
          yield %s.5, %n.3
        }
        """)
    op = f.body.ops[-2]
    assert isinstance(op, If)
    split = Split((8,), at(f, 7))
    paths = (f.params[5].value, f.params[3].value)
    assert divergences(f) == {op.number: Divergence(split, Join(split, (paths, paths)), ())}


def test_a_loop_joins_what_its_paths_pass() -> None:
    f = function("""
        %20: i32 = for %21: i32 = %n.3 .. %n.3 by %n.3 carrying (%22: f32 = %s.5) {
          if %c.4 {
            break %21
          }
          if %m.6 {  @7:0-1
            continue %22
          }
          yield %s.5
        } else (%23: f32) {
          yield %n.3
        }
        """)
    op = f.body.ops[-2]
    assert isinstance(op, For)
    counter, carried = op.body.args
    n, s = f.params[3].value, f.params[5].value
    assert divergences(f)[op.number] == Divergence(
        inside=None,
        results=Join(None, ((counter,), (n,))),
        exits=(),
        carried=Join(Split((8,), at(f, 7)), ((carried,), (s,))),
    )


def test_an_end_that_is_never_reached_brings_nothing() -> None:
    f = function("""
        while {
          condition %c.4
        } do {
          if %m.6 {  @7:0-1
            continue
          } else {
            break
          }
        }
        """)
    op = f.body.ops[-2]
    assert isinstance(op, While)
    split = Split((8,), at(f, 7))
    assert divergences(f)[op.number] == Divergence(
        inside=split, results=Join(split, ((), ())), exits=(), carried=Join(split, ((),))
    )
