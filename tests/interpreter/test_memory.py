"""Loads and stores: what lanes read and write, and what they leave alone."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from eas.ir.text import parse_function
from eas.runtime.argument_values import ArrayArgument
from eas.runtime.errors import KernelError
from eas.runtime.interpreter import Limits, run
from tests.interpreter.running import CHUNKS, arrays_after

COPY = """kernel copy(%x.0: *i32, %y.1: *i32, %n.2: i32) from "k.py" {
  %3: i32 = program_id axis=0
  %4: i32 = 8
  %5: i32 = mul %3, %4
  %6: i32[8] = splat %5 shape=[8]
  %7: i32[8] = arange start=0 size=8
  %8: i32[8] = add %6, %7
  %9: i32[8] = splat %n.2 shape=[8]
  %10: bool[8] = lt %8, %9
  %11: i32 = -1
  %12: i32[8] = splat %11 shape=[8]
  %13: i32[8] = load %x.0[%8] if %10 else %12
  store %y.1[%8] = %13
}"""


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 31, 32])
def test_a_load_gives_the_other_value_where_its_mask_is_false(count: int) -> None:
    x, y = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    _, got = arrays_after(COPY, x[:count], y, count, grid=(4,))
    assert got.tolist() == [*range(count), *[-1] * (32 - count)]


MASKED_STORE = """kernel k(%x.0: *i32, %n.1: i32) from "k.py" {
  %2: i32 = program_id axis=0
  %3: i32 = 5
  %4: i32 = mul %2, %3
  %5: i32[8] = splat %4 shape=[8]
  %6: i32[8] = arange start=0 size=8
  %7: i32[8] = add %5, %6
  %8: i32[8] = splat %n.1 shape=[8]
  %9: bool[8] = lt %6, %8
  store %x.0[%7] = %7 if %9
}"""


def test_a_masked_store_leaves_the_other_elements_alone() -> None:
    (got,) = arrays_after(MASKED_STORE, np.full(20, -1, np.int32), 3, grid=(4,))
    assert got.tolist() == [i if i % 5 < 3 else -1 for i in range(20)]


def test_rows_with_a_masked_end_may_lie_next_to_each_other() -> None:
    (got,) = arrays_after(MASKED_STORE, np.full(20, -1, np.int32), 5, grid=(4,))
    assert got.tolist() == list(range(20))


def test_a_loaded_value_does_not_change_when_its_array_does() -> None:
    text = """kernel k(%x.0: *i32, %y.1: *i32) from "k.py" {
      %2: i32[4] = arange start=0 size=4
      %3: i32[4] = load %x.0[%2]
      %4: i32[4] = add %3, %3
      store %x.0[%2] = %4
      store %y.1[%2] = %3
    }"""
    x, y = arrays_after(text, np.arange(4, dtype=np.int32), np.zeros(4, np.int32))
    assert (x.tolist(), y.tolist()) == ([0, 2, 4, 6], [0, 1, 2, 3])


def test_a_loaded_value_does_not_change_when_another_argument_is_the_same_array() -> None:
    function = parse_function("""kernel k(%x.0: *i32, %y.1: *i32) from "k.py" {
      %2: i32[4] = arange start=0 size=4
      %3: i32[4] = load %x.0[%2]
      %4: i32[4] = add %3, %3
      store %y.1[%2] = %4
      %5: i32[4] = add %3, %4
      store %y.1[%2] = %5
    }""")
    x = np.arange(4, dtype=np.int32)
    run(function, [ArrayArgument(x), ArrayArgument(x)], (1,))
    assert x.tolist() == [0, 3, 6, 9]


GATHER = """kernel k(%x.0: *i32, %i.1: *i64, %y.2: *i32) from "k.py" {
  %3: i32[6] = arange start=0 size=6
  %4: i64[6] = load %i.1[%3]
  %5: i32[6] = load %x.0[%4]
  store %y.2[%4] = %5
}"""


def test_offsets_may_come_in_any_order() -> None:
    index = np.array([3, 0, 5, 1, 4, 2])
    x, y = np.arange(10, 16, dtype=np.int32), np.zeros(6, np.int32)
    assert arrays_after(GATHER, x, index, y)[2].tolist() == x.tolist()


@pytest.mark.parametrize("elements", CHUNKS)
def test_an_array_may_have_strides_and_an_origin(elements: int) -> None:
    storage = np.arange(40, dtype=np.int32)
    backwards, out = storage[::3], np.zeros(30, np.int32)
    arguments = [
        ArrayArgument(backwards, 6),
        ArrayArgument(np.array([-6, -1, 0, 7, 2, 1])),
        ArrayArgument(out[::2], 6),
    ]
    run(parse_function(GATHER), arguments, (1,), limits=Limits(elements=elements))
    wanted = np.zeros(30, np.int32)
    for offset in (-6, -1, 0, 7, 2, 1):
        wanted[2 * (6 + offset)] = 3 * (6 + offset)
    assert out.tolist() == wanted.tolist()


@pytest.mark.parametrize("dtype", ["i8", "u8", "i16", "u16", "u32", "i64", "u64"])
def test_offsets_may_be_of_any_integer_dtype(dtype: str) -> None:
    text = f"""kernel k(%x.0: *i32) from "k.py" {{
      %tile.1: *i32@threadgroup = alloc 5
      %2: i32[5] = arange start=0 size=5
      %3: {dtype}[5] = cast %2 dtype={dtype}
      %4: i32[5] = load %x.0[%3]
      store %tile.1[%3] = %4
      %5: i32[5] = load %tile.1[%3]
      %6: i32[5] = mul %5, %5
      store %x.0[%3] = %6
    }}"""
    (x,) = arrays_after(text, np.arange(5, dtype=np.int32))
    assert x.tolist() == [0, 1, 4, 9, 16]


@pytest.mark.parametrize("dtype", ["i8", "u8", "u64"])
def test_narrow_and_unsigned_offsets_are_checked_against_wide_bounds(dtype: str) -> None:
    function = parse_function(f"""kernel k(%x.0: *i32, %i.1: {dtype}) from "k.py" {{
      %2: i32 = load %x.0[%i.1]
      store %x.0[%i.1] = %2
    }}""")
    wide = ArrayArgument(np.zeros(1000, np.int32), 500)
    run(function, [wide, 100], (1,))
    with pytest.raises(KernelError):
        run(function, [ArrayArgument(np.zeros(100, np.int32), 1), 99], (1,))


def test_lanes_may_write_one_value_to_one_place() -> None:
    text = """kernel k(%x.0: *f32) from "k.py" {
      %1: i32[4] = arange start=0 size=4
      %2: i32 = 1
      %3: i32[4] = splat %2 shape=[4]
      %4: i32[4] = shr %1, %3
      %5: f32[4] = cast %4 dtype=f32
      %6: f32 = nan
      %7: f32[4] = splat %6 shape=[4]
      %8: f32[4] = add %5, %7
      store %x.0[%4] = %8
    }"""
    (x,) = arrays_after(text, np.zeros(3, np.float32), grid=(3,))
    np.testing.assert_array_equal(x, [np.nan, np.nan, 0])


def test_each_program_has_threadgroup_memory_of_its_own() -> None:
    text = """kernel reverse(%x.0: *i32) from "k.py" threads 4 {
      %tile.1: *i32@threadgroup = alloc 4
      %2: i32[4] = thread_index size=4
      %3: i32 = program_id axis=0
      %4: i32 = 4
      %5: i32 = mul %3, %4
      %6: i32[4] = splat %5 shape=[4]
      %7: i32[4] = add %6, %2
      %8: i32[4] = load %x.0[%7]
      store %tile.1[%2] = %8
      barrier
      %9: i32 = 3
      %10: i32[4] = splat %9 shape=[4]
      %11: i32[4] = sub %10, %2
      %12: i32[4] = load %tile.1[%11]
      store %x.0[%7] = %12
    }"""
    (x,) = arrays_after(text, np.arange(20, dtype=np.int32), grid=(5,))
    assert x.reshape(5, 4)[:, ::-1].reshape(-1).tolist() == list(range(20))


def test_masked_lanes_touch_no_threadgroup_memory() -> None:
    text = """kernel k(%x.0: *i32) from "k.py" threads 4 {
      %tile.1: *i32@threadgroup = alloc 2
      %2: i32[4] = thread_index size=4
      %3: i32 = 2
      %4: i32[4] = splat %3 shape=[4]
      %5: bool[4] = lt %2, %4
      store %tile.1[%2] = %2 if %5
      %6: i32 = 9
      %7: i32[4] = splat %6 shape=[4]
      %8: i32[4] = load %tile.1[%2] if %5 else %7
      %9: i32 = program_id axis=0
      %10: i32 = 4
      %11: i32 = mul %9, %10
      %12: i32[4] = splat %11 shape=[4]
      %13: i32[4] = add %12, %2
      store %x.0[%13] = %8
    }"""
    assert arrays_after(text, np.zeros(8, np.int32), grid=(2,))[0].tolist() == [0, 1, 9, 9] * 2


def test_a_program_may_write_a_place_again() -> None:
    text = """kernel k(%x.0: *i32) from "k.py" {
      %1: i32 = program_id axis=0
      %2: i32 = 0
      %3: i32 = 4
      %4: i32 = 1
      for %5: i32 = %2 .. %3 by %4 {
        store %x.0[%1] = %5
      }
    }"""
    assert arrays_after(text, np.zeros(5, np.int32), grid=(5,))[0].tolist() == [3] * 5


def test_a_matrix_is_transposed() -> None:
    text = """kernel k(%x.0: *i32, %y.1: *i32) from "k.py" {
      %2: i32[2] = arange start=0 size=2
      %3: i32[3] = arange start=0 size=3
      %4: i32[2, 1] = expand_dims %2 axis=1
      %5: i32[1, 3] = expand_dims %3 axis=0
      %6: i32 = 3
      %7: i32[2, 1] = splat %6 shape=[2, 1]
      %8: i32[2, 1] = mul %4, %7
      %9: i32[2, 3] = broadcast %8 shape=[2, 3]
      %10: i32[2, 3] = broadcast %5 shape=[2, 3]
      %11: i32[2, 3] = add %9, %10
      %12: i32[2, 3] = load %x.0[%11]
      %13: i32[3, 2] = permute %12 axes=[1, 0]
      %14: i32[6] = arange start=0 size=6
      %15: i32[3, 2] = reshape %14 shape=[3, 2]
      store %y.1[%15] = %13
    }"""
    x = np.arange(6, dtype=np.int32)
    _, y = arrays_after(text, x, np.zeros(6, np.int32))
    assert y.tolist() == x.reshape(2, 3).T.reshape(-1).tolist()


def test_values_that_nobody_needs_are_freed() -> None:
    size, ops = 1 << 20, 30
    lines = [f"%{i + 3}: i32[{size}] = add %{i + 2}, %{i + 2}" for i in range(ops)]
    text = f"""kernel k(%x.0: *i32) from "k.py" {{
      %1: i32[{size}] = arange start=0 size={size}
      %2: i32[{size}] = load %x.0[%1]
      {chr(10).join(lines)}
      store %x.0[%1] = %{ops + 2}
    }}"""
    function, x = parse_function(text), np.ones(size, np.int32)
    tracemalloc.start()
    run(function, [ArrayArgument(x)], (1,))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * x.nbytes
