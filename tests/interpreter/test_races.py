"""Programs and threads that touch one place: found for all of a grid, whatever runs together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
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


@eas.kernel
def shift_left(x):
    p = mk.program_id(0)
    mk.store(x, p, mk.load(x, p + 1))


@eas.kernel
def shift_right(x):
    p = mk.program_id(0)
    mk.store(x, p + 1, mk.load(x, p))


@eas.kernel
def add_one(x, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(x, i, mk.load(x, i) + 1)
    mk.store(x, i, mk.load(x, i) * 2)


@eas.kernel
def write_what_is_there(x):
    mk.store(x, 0, mk.load(x, 0))


def code_of(kernel: Any, *arguments: Any, grid: int = 1, **constants: int) -> str:
    """The code of what the interpreter reports."""
    with pytest.raises(KernelError) as caught:
        kernel[grid](*arguments, _backend="interpret", **constants)
    return caught.value.diagnostics[0].code


@pytest.mark.parametrize("elements", CHUNKS)
@pytest.mark.parametrize("kernel", [shift_left, shift_right])
def test_a_program_must_not_read_what_another_one_writes(kernel: Any, elements: int) -> None:
    function = kernel.compile("*i32").function
    with pytest.raises(KernelError) as caught:
        run_function(function, [np.arange(9, dtype=np.int32)], (8,), Limits(elements=elements))
    assert caught.value.diagnostics[0].code == "R0107"


def test_a_program_may_read_and_write_its_own_elements_many_times() -> None:
    x = np.arange(64, dtype=np.int32)
    add_one[8](x, BLOCK=8, _backend="interpret")
    assert x.tolist() == [2 * (k + 1) for k in range(64)]


def test_a_write_that_changes_nothing_races_with_no_read() -> None:
    x = np.arange(4)
    write_what_is_there[4](x, _backend="interpret")
    assert x.tolist() == [0, 1, 2, 3]


@eas.kernel
def reverse(x, BARRIER: eas.constexpr):
    t = mk.tid(0, 8)
    shared = mk.alloc_tg(8, mk.i32)
    shared[t] = x[t]
    if BARRIER:
        mk.barrier()
    x[t] = shared[7 - t]


@eas.kernel
def rotate_in_place(x, BARRIER: eas.constexpr):
    t = mk.tid(0, 8)
    v = x[(t + 1) % 8]
    if BARRIER:
        mk.barrier()
    x[t] = v


@eas.kernel
def write_one_after_the_other(x, BARRIER: eas.constexpr):
    t = mk.tid(0, 8)
    if t == 3:
        x[0] = 1
    if BARRIER:
        mk.barrier()
    if t == 4:
        x[0] = 2


@eas.kernel
def read_by_all(x, BARRIER: eas.constexpr):
    t = mk.tid(0, 8)
    v = x[0]
    if BARRIER:
        mk.barrier()
    if t == 0:
        x[0] = v + 1


KERNELS_WITH_A_BARRIER = {
    reverse: ("R0107", [7, 6, 5, 4, 3, 2, 1, 0]),
    rotate_in_place: ("R0107", [1, 2, 3, 4, 5, 6, 7, 0]),
    write_one_after_the_other: ("R0106", [2, 1, 2, 3, 4, 5, 6, 7]),
    read_by_all: ("R0107", [1, 1, 2, 3, 4, 5, 6, 7]),
}


@pytest.mark.parametrize("kernel", KERNELS_WITH_A_BARRIER)
def test_threads_without_a_barrier_between_them_are_reported(kernel: Any) -> None:
    code, _ = KERNELS_WITH_A_BARRIER[kernel]
    assert code_of(kernel, np.arange(8, dtype=np.int32), BARRIER=False) == code


@pytest.mark.parametrize("kernel", KERNELS_WITH_A_BARRIER)
def test_a_barrier_gives_threads_an_order(kernel: Any) -> None:
    _, expected = KERNELS_WITH_A_BARRIER[kernel]
    x = np.arange(8, dtype=np.int32)
    kernel[1](x, BARRIER=True, _backend="interpret")
    assert x.tolist() == expected


def test_a_barrier_gives_programs_no_order() -> None:
    @eas.kernel
    def kernel(x):
        t = mk.tid(0, 4)
        p = mk.program_id(0)
        v = x[((p + 1) * 4 + t) % 8]
        mk.barrier()
        x[p * 4 + t] = v

    assert code_of(kernel, np.arange(8), grid=2) == "R0107"


def test_a_thread_may_read_what_it_has_written_itself() -> None:
    @eas.kernel
    def kernel(x):
        t = mk.tid(0, 8)
        if t == 3:
            x[0] = 5
            x[1] = x[0] + 1
        x[t + 2] = t
        x[t + 2] += x[t + 2]

    x = np.zeros(10, np.int32)
    kernel[1](x, _backend="interpret")
    assert x.tolist() == [5, 6, 0, 2, 4, 6, 8, 10, 12, 14]


def test_threads_that_all_write_one_value_may_read_it() -> None:
    @eas.kernel
    def kernel(x):
        t = mk.tid(0, 8)
        x[0] = 5
        x[t + 1] = x[0] + t

    x = np.zeros(9, np.int32)
    kernel[1](x, _backend="interpret")
    assert x.tolist() == [5, 5, 6, 7, 8, 9, 10, 11, 12]


@eas.kernel
def reset_and_count(out):
    mk.store(out, 0, 0)
    mk.atomic_add(out, 0, 1)


@eas.kernel
def first_resets(out):
    if mk.program_id(0) == 3:
        mk.store(out, 0, 7)
    else:
        mk.atomic_add(out, 0, 1)


@eas.kernel
def count_and_read(out):
    mk.atomic_add(out, 0, 1)
    mk.store(out, 1 + mk.program_id(0), mk.load(out, 0))


@eas.kernel
def read_and_count(out):
    i = mk.program_id(0)
    mk.store(out, 1 + i, mk.load(out, i % 2 * 10))
    mk.atomic_add(out, 0, 1)


@eas.kernel
def threads_reset(out):
    t = mk.tid(0, 8)
    shared = mk.alloc_tg(1, mk.i32)
    if t == 0:
        mk.store(shared, 0, 0)
    mk.atomic_add(shared, 0, t)
    mk.barrier()
    mk.store(out, t, mk.load(shared, 0))


@pytest.mark.parametrize(
    ("kernel", "line", "what"),
    [
        (reset_and_count, 3, "by an atomic of one program, and written by another"),
        (first_resets, 5, "by an atomic of one program, and written by another"),
        (count_and_read, 3, "by an atomic of one program, and read by another"),
        (read_and_count, 4, "by an atomic of one program, and read by another"),
        (threads_reset, 6, "by an atomic of one thread, and written by another"),
    ],
)
def test_atomics_have_no_order_to_what_others_do_without(kernel: Any, line: int, what: str) -> None:
    with pytest.raises(KernelError) as caught:
        kernel[4](np.zeros(12, np.int32), _backend="interpret")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "R0107"
    assert diagnostic.message.endswith(f"is updated at offset 0 {what}")
    assert diagnostic.loc.line - kernel.fn.__code__.co_firstlineno == line


@eas.kernel
def own_element(out):
    i = mk.program_id(0)
    mk.store(out, i, 5)
    mk.atomic_add(out, i, mk.load(out, i))
    mk.store(out, i, mk.load(out, i) + 1)


@eas.kernel
def threads_in_order(out):
    t = mk.tid(0, 8)
    shared = mk.alloc_tg(1, mk.i32)
    if t == 0:
        mk.store(shared, 0, 0)
    mk.barrier()
    mk.atomic_add(shared, 0, t)
    mk.barrier()
    mk.store(out, t, mk.load(shared, 0))


@eas.kernel
def blocks_in_order(out):
    i = mk.arange(0, 12)
    mk.store(out, i, i)
    mk.atomic_add(out, i % 3, 1)
    mk.store(out, i, mk.load(out, i) * 2)


@pytest.mark.parametrize(
    ("kernel", "programs", "expected"),
    [
        (own_element, 12, [11] * 12),
        (threads_in_order, 1, [28] * 8 + [0] * 4),
        (blocks_in_order, 1, [8, 10, 12, *range(6, 24, 2)]),
    ],
)
def test_atomics_of_one_program_keep_its_order(
    kernel: Any, programs: int, expected: list[int]
) -> None:
    out = np.zeros(12, np.int32)
    kernel[programs](out, _backend="interpret")
    assert out.tolist() == expected
