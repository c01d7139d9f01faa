"""Reductions and scans by a function: their text, the rules they keep, what passes do to them."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from eas.ir.nodes import Function
from eas.ir.passes import optimize
from eas.ir.passes.cse import merge_common
from eas.ir.passes.dead import remove_dead
from eas.ir.text import parse_function, print_function
from eas.ir.verify import VerifyError, verify
from tests.ir.texts import change, lines

HEAD = """\
kernel k(%a.0: *f32, %s.1: f32, %n.4: i32) from "k.py" {
  %i.2: i32[2, 8] = splat %n.4 shape=[2, 8]
"""

SUM = """
    %20: i32[2, 8] = scan %i.2 by (%5: i32, %6: i32) {
      %7: i32 = add %5, %6
      yield %7
    }
"""


def function(body: str) -> Function:
    return parse_function(f"{HEAD}{indent(dedent(body).strip(), '  ')}\n}}\n")


def refusal(body: str) -> str:
    with pytest.raises(VerifyError) as caught:
        verify(function(body))
    return str(caught.value)


@pytest.mark.parametrize("kind", ["scan", "reduce"])
def test_the_text_can_be_read_again(kind: str) -> None:
    shape = "[2, 8]" if kind == "scan" else "[2]"
    f = function(SUM.replace("scan", kind).replace("%20: i32[2, 8]", f"%20: i32{shape}"))
    verify(f)
    assert parse_function(print_function(f)) == f


def test_a_scan_keeps_the_shape() -> None:
    message = "the results: (i32[2]), but should be (i32[2, 8])\n  %20: i32[2] = scan %i.2 { ... }"
    assert refusal(SUM.replace("%20: i32[2, 8]", "%20: i32[2]")) == message


def test_operands_have_one_shape() -> None:
    body = """
        %9: f32[4] = splat %s.1 shape=[4]
        %20: i32[2], %21: f32[4] = reduce %i.2, %9 by (%5: i32, %6: f32, %7: i32, %8: f32) {
          yield %5, %6
        }
    """
    assert refusal(body).startswith("the operands are no blocks of one shape\n")


def test_the_function_uses_nothing_from_outside() -> None:
    assert "is used outside of the region that defines it" in refusal(
        SUM.replace("add %5, %6", "add %5, %n.4")
    )


def test_the_function_only_computes() -> None:
    body = """
        %20: f32[2] = reduce %9 by (%5: f32, %6: f32) {
          store %a.0[%n.4] = %5
          yield %5
        }
    """
    before = "%9: f32[2, 8] = splat %s.1 shape=[2, 8]\n"
    message = "the function of a combination only computes with scalars"
    assert refusal(before + dedent(body)).startswith(message)


def test_what_nothing_uses_is_gone() -> None:
    before = """
        %9: i32[4] = arange start=0 size=4
        %20: i32 = reduce %9 by (%5: i32, %6: i32) {
          %7: i32 = add %5, %6
          yield %7
        }
    """
    assert change(before, lambda f: remove_dead(f, keeps_faults=True)) == ""


def test_equal_values_in_the_function_are_merged_among_themselves() -> None:
    before = """
        %9: i32[4] = arange start=0 size=4
        %10: i32 = 3
        %20: i32 = reduce %9 by (%5: i32, %6: i32) {
          %7: i32 = 3
          %8: i32 = add %5, %7
          %11: i32 = add %7, %5
          %12: i32 = add %8, %11
          yield %12
        }
        store %out.0[%10] = %20
    """
    after = """
        %5: i32[4] = arange start=0 size=4
        %6: i32 = 3
        %7: i32 = reduce %5 by (%8: i32, %9: i32) {
          %10: i32 = 3
          %11: i32 = add %8, %10
          %12: i32 = add %11, %11
          yield %12
        }
        store %out.0[%6] = %7
    """
    assert change(before, merge_common) == lines(after)


def test_a_scan_in_a_loop_survives_all_passes() -> None:
    before = """
        %5: i32 = 0
        %6: i32 = 1
        for %7: i32 = %5 .. %n.1 by %6 {
          %8: i32[4] = arange start=0 size=4
          %9: i32[4] = scan %8 by (%10: i32, %11: i32) {
            %12: i32 = add %10, %11
            yield %12
          }
          store %out.0[%8] = %9
        }
    """
    after = """
        %5: i32 = 0
        %6: i32 = 1
        %7: i32[4] = arange start=0 size=4
        for %8: i32 = %5 .. %n.1 by %6 {
          %9: i32[4] = scan %7 by (%10: i32, %11: i32) {
            %12: i32 = add %10, %11
            yield %12
          }
          store %out.0[%7] = %9
        }
    """
    assert change(before, optimize) == lines(after)
