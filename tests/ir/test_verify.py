"""The verifier: a function that keeps the contract passes, and each rule has one that breaks it."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest
from hypothesis import given

from eas.ir.nodes import Compute, Function, If, Region, Value
from eas.ir.ops.record import OpDef
from eas.ir.stages import CORE, SOURCE, Stage
from eas.ir.text import parse_function
from eas.ir.types import F32, Scalar
from eas.ir.verify import VerifyError, verify
from eas.support.records import replace
from tests.ir.strategies import functions

HEAD = """\
kernel k(%a.0: *f32, %n.1: i32, %c.2: bool, %s.3: f32, %t.4: f32) from "k.py" {
  %i.5: i32[8] = arange start=0 size=8
  %m.6: bool[8] = eq %i.5, %i.5
  %v.7: f32[8] = splat %s.3 shape=[8]
  %w.8: f32[8] = splat %t.4 shape=[8]
  %i2.9: i32[4, 8] = splat %n.1 shape=[4, 8]
  %m2.10: bool[4, 8] = eq %i2.9, %i2.9
"""


def function(body: str, head: str = HEAD) -> Function:
    return parse_function(f"{head}{indent(dedent(body), '  ')}\n}}\n")


def accept(body: str) -> None:
    verify(function(body))


def refusal(body: str, head: str = HEAD) -> str:
    return refusal_of(function(body, head))


def refusal_of(f: Function, stage: Stage = SOURCE) -> str:
    with pytest.raises(VerifyError) as caught:
        verify(f, stage)
    return str(caught.value)


@given(functions())
def test_random_functions_keep_the_contract(f: Function) -> None:
    verify(f)


def test_an_error_carries_its_op_and_place() -> None:
    f = function("%20: f32 = neg %n.1  @7:4-9")
    with pytest.raises(VerifyError) as caught:
        verify(f)
    op = f.body.ops[-2]
    assert (caught.value.op, caught.value.loc) == (op, op.loc)
    assert str(caught.value) == (
        "k.py:7: the result of `neg` is f32, but should be i32\n  %20: f32 = neg %n.1"
    )


def test_a_value_is_defined_before_its_use() -> None:
    body = """
        %20: i32 = neg %21
        %21: i32 = neg %n.1
        """
    assert refusal(body) == "%21 is used before its definition\n  %20: i32 = neg %21"


def test_a_value_is_visible_in_its_region_only() -> None:
    body = """
        if %c.2 {
          %20: i32 = neg %n.1
        }
        %21: i32 = neg %20
        """
    assert refusal(body) == (
        "%20 is used outside of the region that defines it\n  %21: i32 = neg %20"
    )


def test_a_regions_argument_is_not_visible_in_the_other_regions() -> None:
    body = """
        while (%20: i32 = %n.1) {
          condition %c.2 with %20
        } do (%21: i32) {
          yield %20
        } else (%22: i32) {
        }
        """
    assert refusal(body) == "%20 is used outside of the region that defines it\n  yield %20"


def test_a_value_is_defined_once() -> None:
    body = """
        %20: i32 = neg %n.1
        if %c.2 {
          %20: i32 = neg %n.1
        }
        """
    assert refusal(body) == "%20 is defined twice\n  %20: i32 = neg %n.1"


def test_a_use_has_the_type_of_the_definition() -> None:
    f = function("%20: i32 = neg %n.1")
    *ops, op, end = f.body.ops
    assert isinstance(op, Compute)
    ops += [replace(op, operands=(Value(1, Scalar(F32), "m"),)), end]
    assert refusal_of(replace(f, body=Region((), tuple(ops)))) == (
        "%1 is used as f32 `m`, but is i32 `n`\n  %20: i32 = neg %m.1"
    )


def test_a_result_is_not_visible_inside_of_its_op() -> None:
    body = """
        %20: i32 = if %c.2 {
          yield %20
        } else {
          yield %n.1
        }
        """
    assert refusal(body) == "%20 is used before its definition\n  yield %20"


def test_a_parameter_is_no_block() -> None:
    head = 'kernel k(%x.0: f32[8]) from "k.py" {\n'
    assert refusal("", head) == "the parameter `x` is f32[8]: no scalar, no array"


def test_a_parameter_is_not_in_threadgroup_memory() -> None:
    head = 'kernel k(%x.0: *f32@threadgroup) from "k.py" {\n'
    assert refusal("", head) == "the parameter `x` is *f32@threadgroup: no scalar, no array"


def test_parameters_have_names_of_their_own() -> None:
    head = 'kernel k(%x.0: i32, %x.1: i32) from "k.py" {\n'
    assert refusal("", head) == "two parameters are called `x`"


def test_an_extent_is_an_integer() -> None:
    head = 'kernel k(%a.0: *f32, %e.1: f32 = extent 0 of a) from "k.py" {\n'
    assert refusal("", head) == "the extent `e` is f32: no integer"


def test_a_stride_belongs_to_an_array() -> None:
    head = 'kernel k(%a.0: i32, %e.1: i32 = stride 0 of a) from "k.py" {\n'
    assert refusal("", head) == "the stride `e` is of no array: `a`"


def test_an_argument_belongs_to_no_array() -> None:
    f = function("")
    params = (replace(f.params[0], array="b"), *f.params[1:])
    assert refusal_of(replace(f, params=params)) == "the argument `a` belongs to the array `b`"


def test_the_functions_body_has_no_arguments() -> None:
    f = function("")
    body = replace(f.body, args=(f.params[1].value,))
    assert refusal_of(replace(f, body=body)) == "a region's arguments: (i32), but should be ()"


def test_the_function_yields_nothing() -> None:
    assert refusal("yield %n.1") == "`yield`: (i32), but should be ()\n  yield %n.1"


def test_a_region_is_not_empty() -> None:
    f = function("if %c.2 {\n}")
    *ops, op, end = f.body.ops
    assert isinstance(op, If)
    ops += [replace(op, orelse=Region((), ())), end]
    assert refusal_of(replace(f, body=Region((), tuple(ops)))) == (
        "a region does not end in a terminator\n  if { ... }"
    )


def test_a_region_ends_in_a_terminator() -> None:
    f = function("")
    body = Region((), f.body.ops[:-1])
    assert refusal_of(replace(f, body=body)) == "a region does not end in a terminator"


def test_a_terminator_stands_at_the_end() -> None:
    body = """
        if %c.2 {
          yield
          yield
        }
        """
    assert refusal(body) == "a terminator stands before the end of its region\n  yield"


def test_nothing_follows_branches_that_both_leave() -> None:
    body = """
        scope 1 {
          if %c.2 {
            leave 1
          } else {
            leave 1
          }
          %20: i32 = neg %n.1
        }
        """
    assert refusal(body) == (
        "nothing may follow an `if` whose branches both end in exits\n  %20: i32 = neg %n.1"
    )


def test_branches_that_both_leave_have_no_results() -> None:
    body = """
        scope 1 {
          %20: i32 = if %c.2 {
            leave 1
          } else {
            leave 1
          }
        }
        """
    assert refusal(body) == (
        "an `if` whose branches both end in exits has no results\n  %20: i32 = if { ... }"
    )


def test_both_branches_yield_the_results() -> None:
    body = """
        %20: i32 = if %c.2 {
          yield %n.1
        } else {
          yield %s.3
        }
        """
    assert refusal(body) == "`yield`: (f32), but should be (i32)\n  yield %s.3"


def test_a_condition_ends_only_the_test_of_a_while() -> None:
    body = """
        if %c.2 {
          condition %c.2
        }
        """
    assert refusal(body) == "only the test of a `while` ends in a `condition`\n  condition %c.2"


def test_the_test_of_a_while_ends_in_a_condition() -> None:
    body = """
        while {
          yield
        } do {
        }
        """
    assert refusal(body) == "the test of a `while` ends in a `condition`\n  yield"


def test_bounds_are_integers() -> None:
    body = """
        for %20: f32 = %s.3 .. %s.3 by %s.3 {
        }
        """
    assert refusal(body) == "a bound should be an integer, not f32\n  for { ... }"


def test_bounds_have_one_type() -> None:
    body = """
        for %20: i32 = %n.1 .. %i.5 by %n.1 {
        }
        """
    assert refusal(body) == "the bounds differ in type: i32 and i32[8]\n  for { ... }"


def test_the_counter_has_the_type_of_the_bounds() -> None:
    body = """
        for %20: i64 = %n.1 .. %n.1 by %n.1 {
        }
        """
    assert refusal(body) == "a region's arguments: (i64), but should be (i32)\n  for { ... }"


def test_each_carried_value_has_a_start() -> None:
    body = """
        for %20: i32 = %n.1 .. %n.1 by %n.1 carrying (%21: f32) {
          yield %21
        }
        """
    assert refusal(body) == "a region's arguments: (i32, f32), but should be (i32)\n  for { ... }"


def test_a_body_yields_the_carried_values() -> None:
    body = """
        for %20: i32 = %n.1 .. %n.1 by %n.1 carrying (%21: f32 = %s.3) {
          yield %20
        } else (%22: f32) {
        }
        """
    assert refusal(body) == "`yield`: (i32), but should be (f32)\n  yield %20"


def test_the_else_of_a_loop_takes_the_carried_values() -> None:
    body = """
        for %20: i32 = %n.1 .. %n.1 by %n.1 carrying (%21: f32 = %s.3) {
          yield %21
        } else (%22: i32) {
        }
        """
    assert refusal(body) == "a region's arguments: (i32), but should be (f32)\n  for { ... }"


def test_the_else_of_a_loop_yields_the_results() -> None:
    body = """
        %20: i32 = while (%21: f32 = %s.3) {
          condition %c.2 with %21
        } do (%22: f32) {
          yield %22
        } else (%23: f32)
        """
    assert refusal(body) == "`yield`: (f32), but should be (i32)\n  yield %23"


def test_a_condition_passes_the_carried_values() -> None:
    body = """
        while (%20: f32 = %s.3) {
          condition %c.2 with %n.1
        } do (%21: f32) {
          yield %21
        } else (%22: f32) {
        }
        """
    assert refusal(body) == "`condition`: (i32), but should be (f32)\n  condition %c.2 with %n.1"


def test_the_body_of_a_while_takes_the_carried_values() -> None:
    body = """
        while (%20: f32 = %s.3) {
          condition %c.2 with %20
        } do {
          yield %s.3
        } else (%22: f32) {
        }
        """
    assert refusal(body) == "a region's arguments: (), but should be (f32)\n  while { ... }"


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ("if %n.1 {\n}", "if { ... }"),
        ("while {\n  condition %n.1\n} do {\n}", "condition %n.1"),
    ],
)
def test_a_condition_is_a_bool(body: str, where: str) -> None:
    assert refusal(body) == f"the condition should be a bool, not i32\n  {where}"


def test_a_break_gives_the_results() -> None:
    body = """
        %20: i32 = for %21: i32 = %n.1 .. %n.1 by %n.1 {
          break %s.3
        } else {
          yield %n.1
        }
        """
    assert refusal(body) == "`break`: (f32), but should be (i32)\n  break %s.3"


def test_a_continue_passes_the_carried_values() -> None:
    body = """
        for %20: i32 = %n.1 .. %n.1 by %n.1 carrying (%21: f32 = %s.3) {
          continue
        } else (%22: f32) {
        }
        """
    assert refusal(body) == "`continue`: (), but should be (f32)\n  continue"


def test_a_break_is_inside_of_a_loop() -> None:
    assert refusal("break") == "there is no loop here to break\n  break"


def test_a_continue_is_inside_of_a_loop() -> None:
    assert refusal("continue") == "there is no loop here to continue\n  continue"


def test_the_else_of_a_loop_is_outside_of_it() -> None:
    body = """
        for %20: i32 = %n.1 .. %n.1 by %n.1 {
        } else {
          break
        }
        """
    assert refusal(body) == "there is no loop here to break\n  break"


def test_no_exit_leaves_the_test_of_a_loop() -> None:
    body = """
        scope 1 {
          while {
            if %c.2 {
              leave 1
            }
            condition %c.2
          } do {
          }
        }
        """
    assert refusal(body) == "no scope around this has the label 1\n  leave 1"


def test_a_scope_inside_of_a_test_is_left() -> None:
    accept("""
        while {
          %20: bool = scope 1 {
            if %c.2 {
              leave 1 %c.2
            }
            yield %c.2
          }
          condition %20
        } do {
        }
        """)


def test_a_leave_names_a_scope_around_it() -> None:
    body = """
        scope 1 {
        }
        scope 2 {
          leave 1
        }
        """
    assert refusal(body) == "no scope around this has the label 1\n  leave 1"


def test_a_leave_gives_the_results() -> None:
    body = """
        %20: i32 = scope 1 {
          leave 1 %s.3
        }
        """
    assert refusal(body) == "`leave`: (f32), but should be (i32)\n  leave 1 %s.3"


def test_scopes_inside_of_each_other_have_different_labels() -> None:
    body = """
        scope 1 {
          scope 1 {
          }
        }
        """
    assert refusal(body) == "a scope around this has the label 1 too\n  scope { ... }"


def test_a_scope_yields_its_results() -> None:
    body = """
        %20: i32 = scope 1 {
          yield
        }
        """
    assert refusal(body) == "`yield`: (), but should be (i32)\n  yield"


def test_scopes_are_gone_after_their_pass() -> None:
    f = function("scope 1 {\n}")
    verify(f)
    assert refusal_of(f, CORE) == ("a `scope` is not legal at the stage `core`\n  scope { ... }")


def test_a_result_has_the_type_that_the_record_gives() -> None:
    assert refusal("%20: i32 = lt %n.1, %n.1") == (
        "the result of `lt` is i32, but should be bool\n  %20: i32 = lt %n.1, %n.1"
    )


def test_operands_keep_the_records_rule() -> None:
    assert refusal("%20: i32 = add %n.1, %s.3") == (
        "`add` operands differ in type: i32 and f32\n  %20: i32 = add %n.1, %s.3"
    )


def test_an_op_has_as_many_operands_as_its_record() -> None:
    assert refusal("%20: i32 = add %n.1") == (
        "`add` has 1 operands, but takes (a, b)\n  %20: i32 = add %n.1"
    )


def test_an_op_has_the_attributes_of_its_record() -> None:
    assert refusal("%20: i32 = program_id axes=0") == (
        "the attributes of `program_id` should be (axis)\n  %20: i32 = program_id axes=0"
    )


def test_attributes_are_of_the_right_kind() -> None:
    assert refusal("%20: i32[8] = splat %n.1 shape=8") == (
        "an attribute of `splat` is of a wrong kind\n  %20: i32[8] = splat %n.1 shape=8"
    )


def test_an_op_is_of_the_table() -> None:
    f = function("%20: f32 = neg %s.3")
    op = f.body.ops[-2]
    assert isinstance(op, Compute)
    own = OpDef("neg", ("a",), op.op.typing, op.op.meaning, "of its own")
    ops = (*f.body.ops[:-2], replace(op, op=own), f.body.ops[-1])
    assert refusal_of(replace(f, body=Region((), ops))) == (
        "`neg` is no op of the stage `source`\n  %20: f32 = neg %s.3"
    )


def test_a_pointer_is_not_computed_with() -> None:
    assert refusal("%20: *f32 = add %a.0, %a.0") == (
        "an operand is the pointer %0\n  %20: *f32 = add %a.0, %a.0"
    )


def test_a_pointer_is_not_joined() -> None:
    body = """
        %20: *f32 = if %c.2 {
          yield %a.0
        } else {
          yield %a.0
        }
        """
    assert refusal(body) == "the pointer %20 is joined or carried\n  %20: *f32 = if { ... }"


def test_a_pointer_is_not_carried() -> None:
    body = """
        for %20: i32 = %n.1 .. %n.1 by %n.1 carrying (%21: *f32 = %a.0) {
          yield %21
        } else (%22: *f32) {
        }
        """
    assert refusal(body) == "the pointer %21 is joined or carried\n  for { ... }"


def test_a_pointer_is_not_printed() -> None:
    assert refusal("print %a.0") == "a part is the pointer %0\n  print %a.0"


def test_a_constant_is_a_scalar() -> None:
    assert refusal("%20: f32[8] = 1.0") == (
        "a constant should be a scalar, not f32[8]\n  %20: f32[8] = 1.0"
    )


@pytest.mark.parametrize("line", ["%20: f32 = 1", "%20: i32 = 1.0", "%20: i32 = true"])
def test_a_constant_is_written_as_its_dtype_asks(line: str) -> None:
    number = {"1": "1", "1.0": "1.0", "true": "True"}[line.split()[-1]]
    assert refusal(line) == f"{number} is no {line.split()[1]}\n  {line}"


def test_an_integer_constant_fits() -> None:
    accept("%20: u8 = 255")
    assert refusal("%20: u8 = 256") == "256 does not fit in u8\n  %20: u8 = 256"


def test_an_assert_takes_a_bool() -> None:
    assert refusal('assert %n.1, ""') == (
        'the condition should be a bool, not i32\n  assert %n.1, ""'
    )


def test_memory_is_accessed_through_a_pointer() -> None:
    line = "%20: i32 = load %n.1[%n.1]"
    assert refusal(line) == f"%1 is i32: no pointer\n  {line}"


def test_an_offset_is_an_integer() -> None:
    line = "%20: f32 = load %a.0[%s.3]"
    assert refusal(line) == f"the offset should be an integer, not f32\n  {line}"


def test_a_load_gives_elements_in_the_offsets_shape() -> None:
    line = "%20: f32 = load %a.0[%i.5]"
    assert refusal(line) == f"the result is f32, but should be f32[8]\n  {line}"


def test_a_mask_is_a_bool() -> None:
    line = "store %a.0[%n.1] = %s.3 if %n.1"
    assert refusal(line) == f"the mask should be a bool, not i32\n  {line}"


def test_a_mask_has_the_offsets_shape() -> None:
    line = "store %a.0[%i.5] = %v.7 if %c.2"
    assert refusal(line) == f"the mask is bool, the offset is i32[8]\n  {line}"


@pytest.mark.parametrize("rest", ["if %c.2", "else %s.3"])
def test_a_mask_and_another_value_come_together(rest: str) -> None:
    line = f"%20: f32 = load %a.0[%n.1] {rest}"
    assert refusal(line) == f"a load has a mask and another value, or neither\n  {line}"


def test_the_other_value_has_the_results_type() -> None:
    line = "%20: f32 = load %a.0[%n.1] if %c.2 else %n.1"
    assert refusal(line) == f"the other value is i32, but should be f32\n  {line}"


def test_a_stored_value_has_the_elements_type() -> None:
    line = "store %a.0[%i.5] = %s.3"
    assert refusal(line) == f"the value is f32, but should be f32[8]\n  {line}"


@pytest.mark.parametrize("what", ["add %a.0[%n.1], %s.3 -> %s.3", "cas %a.0[%n.1], %s.3"])
def test_a_cas_alone_has_an_expected_value(what: str) -> None:
    line = f"%20: f32 = atomic {what}"
    assert refusal(line) == f"a `cas`, and nothing else, has an expected value\n  {line}"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("%20: i32 = atomic add %a.0[%n.1], %s.3", "the result"),
        ("%20: f32 = atomic add %a.0[%n.1], %n.1", "the value"),
        ("%20: f32 = atomic cas %a.0[%n.1], %n.1 -> %s.3", "the expected value"),
    ],
)
def test_an_atomic_works_on_elements(line: str, what: str) -> None:
    assert refusal(line) == f"{what} is i32, but should be f32\n  {line}"


def test_memory_has_a_size() -> None:
    line = "%20: *f32@threadgroup = alloc 0"
    assert refusal(line) == f"memory for 0 elements\n  {line}"


@pytest.mark.parametrize("ty", ["*f32", "f32"])
def test_an_alloc_gives_threadgroup_memory(ty: str) -> None:
    line = f"%20: {ty} = alloc 8"
    assert refusal(line) == f"the result is {ty}, but should be a threadgroup pointer\n  {line}"


THREADS = 'kernel k(%n.0: i32) from "k.py" threads 8 {\n'


def test_the_blocks_of_a_thread_function_have_its_threads() -> None:
    line = "%20: i32[4] = splat %n.0 shape=[4]"
    assert refusal(line, THREADS) == f"i32[4] is a block in a function of 8 threads\n  {line}"


def test_a_function_has_at_least_one_thread() -> None:
    f = function("", THREADS)
    assert refusal_of(replace(f, threads=0)) == "a threadgroup has at least one thread, not 0"


def test_a_barrier_is_not_below_a_block_condition() -> None:
    body = """
        if %m.6 {  @7:3-9
          barrier  @8:4-5
        }
        """
    assert refusal(body) == (
        "k.py:8: some lanes may not get here: they are split at k.py:7\n  barrier"
    )


def test_a_reduction_is_not_below_a_block_condition() -> None:
    body = """
        if %m.6 {  @7:3-9
          if %c.2 {  @8:3-9
            %20: f32 = reduce_sum %v.7 axis=none
          }
        }
        """
    assert refusal(body) == (
        "some lanes may not get here: they are split at k.py:7\n"
        "  %20: f32 = reduce_sum %v.7 axis=none"
    )


def test_a_barrier_may_stand_below_a_scalar_condition() -> None:
    accept("""
        if %m.6 {
        }
        if %c.2 {
          barrier
        }
        """)


@pytest.mark.parametrize("place", ["test", "body", "else"])
def test_a_barrier_is_nowhere_in_a_while_with_a_block_condition(place: str) -> None:
    lines = {where: "barrier" if where == place else "" for where in ("test", "body", "else")}
    body = f"""
        while {{
          {lines["test"]}
          condition %m.6  @7:3-9
        }} do {{
          {lines["body"]}
        }} else {{
          {lines["else"]}
        }}
        """
    assert refusal(body) == "some lanes may not get here: they are split at k.py:7\n  barrier"


def test_a_barrier_is_not_in_a_for_with_block_bounds() -> None:
    body = """
        for %20: i32[8] = %i.5 .. %i.5 by %i.5 {  @7:3-9
          barrier
        }
        """
    assert refusal(body) == "some lanes may not get here: they are split at k.py:7\n  barrier"


def test_a_barrier_does_not_follow_a_split_leave() -> None:
    body = """
        scope 1 {
          if %c.2 {
            if %m.6 {  @7:3-9
              leave 1
            }
          }
          barrier
        }
        """
    assert refusal(body) == "some lanes may not get here: they are split at k.py:7\n  barrier"


def test_a_barrier_may_follow_the_scope_that_lanes_left() -> None:
    accept("""
        scope 1 {
          barrier
          if %m.6 {
            leave 1
          }
        }
        barrier
        """)


def test_a_barrier_does_not_follow_a_split_continue() -> None:
    body = """
        for %20: i32 = %n.1 .. %n.1 by %n.1 {
          if %m.6 {  @7:3-9
            continue
          }
          barrier
        }
        """
    assert refusal(body) == "some lanes may not get here: they are split at k.py:7\n  barrier"


def test_a_barrier_may_come_before_a_split_continue() -> None:
    accept("""
        for %20: i32 = %n.1 .. %n.1 by %n.1 {
          barrier
          if %m.6 {
            continue
          }
        }
        barrier
        """)


@pytest.mark.parametrize("leaving", ["break", "leave 1"])
def test_a_barrier_is_nowhere_in_a_loop_that_some_lanes_leave_early(leaving: str) -> None:
    body = f"""
        scope 1 {{
          for %20: i32 = %n.1 .. %n.1 by %n.1 {{
            barrier
            if %m.6 {{  @7:3-9
              {leaving}
            }}
          }}
        }}
        """
    assert refusal(body) == "some lanes may not get here: they are split at k.py:7\n  barrier"


def test_a_barrier_is_not_in_the_else_of_a_loop_that_some_lanes_break() -> None:
    body = """
        for %20: i32 = %n.1 .. %n.1 by %n.1 {
          if %m.6 {  @7:3-9
            break
          }
        } else {
          barrier
        }
        """
    assert refusal(body) == "some lanes may not get here: they are split at k.py:7\n  barrier"


def test_a_break_after_a_split_continue_leaves_lanes_behind() -> None:
    body = """
        for %20: i32 = %n.1 .. %n.1 by %n.1 {
          barrier
          if %m.6 {  @7:3-9
            continue
          }
          break
        }
        """
    assert refusal(body) == "some lanes may not get here: they are split at k.py:7\n  barrier"


def test_a_barrier_does_not_follow_a_loop_that_some_lanes_leave_for_good() -> None:
    body = """
        scope 1 {
          for %20: i32 = %n.1 .. %n.1 by %n.1 {
            if %m.6 {  @7:3-9
              break
            }
            if %c.2 {
              leave 1
            }
          }
          barrier
        }
        """
    assert refusal(body) == "some lanes may not get here: they are split at k.py:7\n  barrier"


def test_a_barrier_may_stand_in_a_loop_that_all_lanes_leave_together() -> None:
    accept("""
        for %20: i32 = %n.1 .. %n.1 by %n.1 {
          barrier
          if %c.2 {
            break
          }
          if %m.6 {
          }
          barrier
        }
        """)


def test_a_block_below_a_split_has_its_rank() -> None:
    body = """
        if %m2.10 {  @7:3-9
          %20: i32[8] = neg %i.5
        }
        """
    assert refusal(body) == (
        "%20 is i32[8], but the lanes are split by [4, 8] at k.py:7\n  %20: i32[8] = neg %i.5"
    )


def test_a_block_below_a_split_has_its_extents_or_1() -> None:
    accept("""
        if %m2.10 {
          %20: i32[4, 1] = splat %n.1 shape=[4, 1]
          %21: i32[1, 8] = expand_dims %i.5 axis=0
        }
        """)
    body = """
        if %m2.10 {  @7:3-9
          %20: i32[4, 2] = splat %n.1 shape=[4, 2]
        }
        """
    assert refusal(body) == (
        "%20 is i32[4, 2], but the lanes are split by [4, 8] at k.py:7\n"
        "  %20: i32[4, 2] = splat %n.1 shape=[4, 2]"
    )


def test_an_effect_below_a_split_takes_blocks_of_its_rank() -> None:
    body = """
        if %m2.10 {  @7:3-9
          store %a.0[%i.5] = %v.7
        }
        """
    assert refusal(body) == (
        "%5 is i32[8], but the lanes are split by [4, 8] at k.py:7\n  store %a.0[%i.5] = %v.7"
    )


def test_a_condition_below_a_split_has_its_rank() -> None:
    body = """
        if %m2.10 {  @7:3-9
          if %m.6 {
          }
        }
        """
    assert refusal(body) == (
        "%6 is bool[8], but the lanes are split by [4, 8] at k.py:7\n  if { ... }"
    )


def test_bounds_below_a_split_have_its_rank() -> None:
    body = """
        if %m2.10 {  @7:3-9
          for %20: i32[8] = %i.5 .. %i.5 by %i.5 {
          }
        }
        """
    assert refusal(body) == (
        "%5 is i32[8], but the lanes are split by [4, 8] at k.py:7\n  for { ... }"
    )


def test_a_carried_block_has_the_rank_of_the_loops_split() -> None:
    body = """
        while (%20: f32[8] = %v.7) {
          condition %m2.10 with %20  @7:3-9
        } do (%21: f32[8]) {
          yield %21
        } else (%22: f32[8]) {
        }
        """
    assert refusal(body) == (
        "%20 is f32[8], but the lanes are split by [4, 8] at k.py:7\n  while { ... }"
    )


def test_lanes_leave_by_shapes_that_go_together() -> None:
    body = """
        scope 1 {
          if %c.2 {
            if %m.6 {  @7:3-9
              leave 1
            }
          } else {
            if %m2.10 {  @8:3-9
              leave 1
            }
          }
        }
        """
    assert refusal(body) == ("lanes leave by [8] at k.py:7 and by [4, 8] at k.py:8\n  if { ... }")


def test_lanes_of_two_branches_join_in_a_block() -> None:
    body = """
        %20: f32 = if %m.6 {  @7:3-9
          yield %s.3
        } else {
          yield %t.4
        }
        """
    assert refusal(body) == (
        "k.py:7: the result %20 is f32, but lanes that were split by [8] at k.py:7"
        " have different values\n  %20: f32 = if { ... }"
    )


def test_a_join_covers_the_condition() -> None:
    body = """
        %20: f32[4, 1] = splat %s.3 shape=[4, 1]
        %21: f32[4, 1] = splat %t.4 shape=[4, 1]
        %22: f32[4, 1] = if %m2.10 {  @7:3-9
          yield %20
        } else {
          yield %21
        }
        """
    assert refusal(body) == (
        "k.py:7: the result %22 is f32[4, 1], but lanes that were split by [4, 8] at k.py:7"
        " have different values\n  %22: f32[4, 1] = if { ... }"
    )


def test_both_branches_may_yield_one_scalar() -> None:
    accept("""
        %20: f32 = if %m.6 {
          yield %s.3
        } else {
          yield %s.3
        }
        """)


def test_the_only_branch_that_yields_may_yield_a_scalar() -> None:
    accept("""
        scope 1 {
          %20: f32 = if %m.6 {
            leave 1
          } else {
            yield %s.3
          }
        }
        """)


def test_a_branch_that_never_ends_brings_nothing() -> None:
    accept("""
        scope 1 {
          %20: f32 = if %m.6 {
            if %c.2 {
              leave 1
            } else {
              leave 1
            }
            yield %t.4
          } else {
            yield %s.3
          }
        }
        """)


def test_lanes_that_break_join_the_others_in_a_block() -> None:
    body = """
        %20: f32 = for %21: i32 = %n.1 .. %n.1 by %n.1 {  @6:3-9
          if %m.6 {  @7:3-9
            break %s.3
          }
        } else {
          yield %t.4
        }
        """
    assert refusal(body) == (
        "k.py:6: the result %20 is f32, but lanes that were split by [8] at k.py:7"
        " have different values\n  %20: f32 = for { ... }"
    )


def test_lanes_of_a_block_while_bring_the_values_of_their_trips() -> None:
    body = """
        %20: f32 = while (%21: f32 = %s.3) {
          condition %m.6 with %21  @7:3-9
        } do (%22: f32) {
          %23: f32 = neg %22
          yield %23
        } else (%24: f32)
        """
    assert refusal(body) == (
        "the result %20 is f32, but lanes that were split by [8] at k.py:7"
        " have different values\n  %20: f32 = while { ... }"
    )


def test_a_scalar_from_outside_of_the_loop_is_the_same_for_all_lanes() -> None:
    accept("""
        %20: f32 = for %21: i32 = %n.1 .. %n.1 by %n.1 {
          if %m.6 {
            break %s.3
          }
        } else {
          yield %s.3
        }
        """)


def test_a_loop_that_some_lanes_leave_for_good_gives_blocks_too() -> None:
    body = """
        scope 1 {
          %20: f32 = for %21: i32 = %n.1 .. %n.1 by %n.1 carrying (%22: f32 = %s.3) {
            if %m.6 {  @7:3-9
              leave 1
            }
            yield %22
          } else (%23: f32)
        }
        """
    assert refusal(body) == (
        "the result %20 is f32, but lanes that were split by [8] at k.py:7"
        " have different values\n  %20: f32 = for { ... }"
    )


def test_carried_values_may_stay_scalar_where_lanes_break() -> None:
    accept("""
        %20: f32[8] = for %21: i32 = %n.1 .. %n.1 by %n.1 carrying (%22: f32 = %s.3) {
          if %m.6 {
            break %v.7
          }
          if %c.2 {
            continue %22
          }
          %23: f32 = neg %22
          yield %23
        } else (%24: f32) {
          %25: f32[8] = splat %24 shape=[8]
          yield %25
        }
        """)


def test_lanes_that_continue_join_the_others_in_a_block() -> None:
    body = """
        for %21: i32 = %n.1 .. %n.1 by %n.1 carrying (%22: f32 = %s.3) {
          if %m.6 {  @7:3-9
            continue %22
          }
          yield %t.4
        } else (%24: f32) {
        }
        """
    assert refusal(body) == (
        "the carried value %22 is f32, but lanes that were split by [8] at k.py:7"
        " have different values\n  for { ... }"
    )


def test_lanes_that_continue_may_pass_the_same_scalar_as_the_others() -> None:
    accept("""
        for %21: i32 = %n.1 .. %n.1 by %n.1 carrying (%22: f32 = %s.3) {
          %23: f32 = neg %22
          if %m.6 {
            continue %23
          }
          yield %23
        } else (%24: f32) {
        }
        """)


def test_lanes_that_leave_a_scope_join_the_others_in_a_block() -> None:
    body = """
        %20: f32 = scope 1 {
          if %m.6 {  @7:3-9
            leave 1 %s.3
          }
          yield %t.4
        }
        """
    assert refusal(body) == (
        "the result %20 is f32, but lanes that were split by [8] at k.py:7"
        " have different values\n  %20: f32 = scope { ... }"
    )


def test_lanes_that_leave_for_elsewhere_do_not_count_in_a_join() -> None:
    accept("""
        scope 1 {
          %20: f32 = scope 2 {
            if %m.6 {
              leave 1
            }
            if %c.2 {
              leave 2 %s.3
            }
            yield %t.4
          }
        }
        """)


def test_lanes_that_break_on_different_trips_bring_different_values() -> None:
    body = """
        scope 1 {
          %20: i32 = for %21: i32 = %n.1 .. %n.1 by %n.1 {
            if %m.6 {  @7:3-9
              break %21
            }
          } else {
            leave 1
          }
        }
        """
    assert refusal(body) == (
        "the result %20 is i32, but lanes that were split by [8] at k.py:7"
        " have different values\n  %20: i32 = for { ... }"
    )


def test_lanes_that_leave_a_scope_on_different_trips_bring_different_values() -> None:
    body = """
        scope 1 {
          %20: i32 = scope 2 {
            for %21: i32 = %n.1 .. %n.1 by %n.1 {
              if %m.6 {  @7:3-9
                leave 2 %21
              }
            } else {
              leave 1
            }
            yield %n.1
          }
        }
        """
    assert refusal(body) == (
        "the result %20 is i32, but lanes that were split by [8] at k.py:7"
        " have different values\n  %20: i32 = scope { ... }"
    )


def test_every_op_has_a_number_of_its_own() -> None:
    f = function("%20: f32 = neg %s.3\n%21: f32 = neg %s.3")
    first, second = f.body.ops[-3:-1]
    verify(f)
    again = replace(second, number=first.number)
    ops = (*f.body.ops[:-2], again, f.body.ops[-1])
    assert refusal_of(replace(f, body=Region((), ops))) == (
        "an op before this one has the same number\n  %21: f32 = neg %s.3"
    )
