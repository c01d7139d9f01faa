"""Programs that write to one place: found for all of a grid, whatever runs together."""

from __future__ import annotations

import numpy as np
import pytest

from eas.ir.text import parse_function
from eas.runtime.errors import KernelError
from eas.runtime.interpreter import Limits
from tests.interpreter.running import CHUNKS, arrays_after, run_function

# Program p writes `value` to the elements from 4 p on, twice as many as the programs are apart.
OVERLAPPING = """kernel k(%x.0: *i32) from "k.py" {{
  %1: i32 = program_id axis=0
  %2: i32 = 4
  %3: i32 = mul %1, %2
  %4: i32[8] = splat %3 shape=[8]
  %5: i32[8] = arange start=0 size=8
  %6: i32[8] = add %4, %5
  store %x.0[%6] = {value}
}}"""


def test_programs_may_write_the_same_values_to_the_same_places() -> None:
    text = OVERLAPPING.format(value="%6")
    (x,) = arrays_after(text, np.zeros(44, np.int32), grid=(10,))
    assert x.tolist() == list(range(44))


@pytest.mark.parametrize("elements", CHUNKS)
def test_programs_must_not_write_different_values_to_the_same_places(elements: int) -> None:
    function = parse_function(OVERLAPPING.format(value="%5"))
    with pytest.raises(KernelError) as caught:
        run_function(function, [np.zeros(44, np.int32)], (10,), Limits(elements=elements))
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.label) == ("R0106", "4 and 0 go to offset 4")


def test_a_program_that_ran_alone_is_named_when_another_one_writes_there() -> None:
    function = parse_function(OVERLAPPING.format(value="%5"))
    with pytest.raises(KernelError) as caught:
        run_function(function, [np.zeros(44, np.int32)], (10,), Limits(elements=1))
    assert caught.value.diagnostics[0].notes == (
        "4 comes from program 0 of a grid of 10",
        "0 comes from program 1 of a grid of 10, lane 0",
    )


def test_stretches_may_come_in_any_order() -> None:
    text = """kernel k(%x.0: *i32) from "k.py" {
      %1: i32 = program_id axis=0
      %2: i32 = num_programs axis=0
      %3: i32 = 1
      %4: i32 = sub %2, %3
      %5: i32 = sub %4, %1
      %6: i32 = 4
      %7: i32 = mul %5, %6
      %8: i32[4] = splat %7 shape=[4]
      %9: i32[4] = arange start=0 size=4
      %10: i32[4] = add %8, %9
      store %x.0[%10] = %9
      store %x.0[%10] = %10
    }"""
    (x,) = arrays_after(text, np.zeros(40, np.int32), grid=(10,))
    assert x.tolist() == list(range(40))


def test_nan_may_be_written_twice() -> None:
    text = """kernel k(%x.0: *f32) from "k.py" {
      %1: i32 = 0
      %2: f32 = nan
      store %x.0[%1] = %2
      store %x.0[%1] = %2
    }"""
    (x,) = arrays_after(text, np.zeros(1, np.float32), grid=(3,))
    np.testing.assert_array_equal(x, [np.nan])


@pytest.mark.parametrize("elements", CHUNKS)
def test_programs_that_write_a_place_twice_race_with_each_other(elements: int) -> None:
    function = parse_function("""kernel k(%x.0: *i32) from "k.py" {
      %1: i32 = 0
      %2: i32 = 7
      store %x.0[%1] = %1
      store %x.0[%1] = %2
    }""")
    with pytest.raises(KernelError) as caught:
        run_function(function, [np.zeros(1, np.int32)], (30,), Limits(elements=elements))
    assert caught.value.diagnostics[0].code == "R0106"
