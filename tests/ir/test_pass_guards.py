"""The passes `bounds` and `guards`: checks of memory as hidden parameters and as ops."""

from __future__ import annotations

import pytest

import eas
from eas import mk
from eas.ir.passes import with_bounds
from eas.ir.passes.guards import guard_accesses
from eas.ir.pipeline import run
from eas.ir.stages import GUARDED_RELAXED
from eas.ir.text import parse_function, print_function
from eas.ir.verify import verify
from eas.msl.pipeline import RELAX_METAL
from tests.test_kernels import case_of, every_kernel


@eas.kernel
def shift(x, y, N):
    i = mk.arange(0, 4)
    y[i] = mk.load(x, i + 1, i < N)


def test_an_array_whose_strides_are_taken_has_a_first_offset_of_its_own() -> None:
    function = with_bounds(shift.compile("*f32", "*f32[:]", "i32").function)
    bounds = [(p.role, p.array) for p in function.params if p.role in ("low", "high")]
    assert bounds == [("high", "x"), ("low", "y"), ("high", "y")]


def test_each_access_and_each_index_is_asserted_once() -> None:
    function = guard_accesses(with_bounds(shift.compile("*f32", "*f32[:]", "i32").function))
    lines = print_function(function, locations=False).splitlines()
    faults = [line.split(" fault ")[1].split("%")[0].strip() for line in lines if " fault " in line]
    assert sorted(faults) == ["index y", "read x", "written y"]


@eas.kernel
def put(x, index):
    mk.store(x, mk.load(index, mk.arange(0, 4)), 1)


@pytest.mark.parametrize(("dtype", "comparisons"), [("u64", 2), ("i64", 2), ("u32", 1)])
def test_an_offset_that_is_below_zero_as_an_i64_is_outside(dtype: str, comparisons: int) -> None:
    function = guard_accesses(with_bounds(put.compile("*i32", f"*{dtype}").function))
    lines = print_function(function, locations=False).splitlines()
    end = next(n for n, line in enumerate(lines) if "fault written x" in line)
    start = next(n for n, line in enumerate(lines) if "= load" in line)
    assert sum(" lt " in line or " ge " in line for line in lines[start:end]) == comparisons


@every_kernel
def test_guarded_functions_verify_and_their_text_is_read_back(name: str) -> None:
    case = case_of(name)
    function = case.kernel.compile(**case.arguments()).function
    guarded = run(RELAX_METAL, with_bounds(function), None)
    verify(guarded, GUARDED_RELAXED)
    assert parse_function(print_function(guarded)) == guarded
