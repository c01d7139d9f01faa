"""Reductions of blocks of many shapes and dtypes: the machine code against the op's own meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from eas.ir.builder import Builder, region
from eas.ir.nodes import Function, Param, Value, Yield
from eas.ir.ops import OPS, RuleError
from eas.ir.ops.record import Array
from eas.ir.types import DTYPES, DType, Pointer, Shape, count
from eas.runtime.argument_values import ArrayArgument
from eas.runtime.cpu import Executable
from eas.support.location import NOWHERE, SourceName
from tests.cpu.test_ops import numbers
from tests.thorough import sampled

SHAPES: list[Shape] = [(1,), (100,), (9, 1), (5, 40), (3, 4, 11)]
NAMES = sorted(name for name, op in OPS.items() if op.reduction)


def function_of(name: str, dtype: DType, shape: Shape, axis: int | None) -> Function | None:
    build = Builder()
    source = build.value(Pointer(dtype), "source")
    flat = build.compute("arange", start=0, size=count(shape))
    try:
        block = build.compute("reshape", build.load(source, flat), shape=shape)
        result = build.compute(name, block, axis=axis)
    except RuleError:
        return None
    out = build.value(Pointer(result.ty.dtype), "out")
    if result.shape:
        place: Value = build.compute("arange", start=0, size=count(result.shape))
        result = build.compute("reshape", result, shape=place.shape)
    else:
        place = build.constant(0, DTYPES["i32"])
    build.store(out, place, result)
    build.emit(Yield((), NOWHERE))
    params = (Param(source), Param(out))
    return Function(name, params, region(build.ops), SourceName("reductions.py"))


def values(dtype: DType, shape: Shape) -> Array:
    """Numbers whose sums are exact in any order, and a NaN."""
    made = numbers(dtype, 3)[: count(shape)]
    if not dtype.is_float:
        return made.reshape(shape)
    random = np.random.default_rng(1)
    made = random.integers(-3, 4, count(shape)).astype(dtype.numpy)
    return made.reshape(shape)


@sampled(5)
@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, dtype) for name in NAMES for dtype in ("bool", "i8", "u32", "bf16", "f32")],
)
def test_a_reduction_computes_what_it_means(name: str, dtype: str) -> None:
    for shape in SHAPES:
        for axis in (None, *range(len(shape))):
            function = function_of(name, DTYPES[dtype], shape, axis)
            if function is None:
                return
            array = values(DTYPES[dtype], shape)
            expected: Any = OPS[name].meaning(array[None], axis=axis)[0]
            out = np.zeros(expected.size, expected.dtype)
            bound = [ArrayArgument(array.reshape(-1)), ArrayArgument(out)]
            assert Executable(function).run(bound, (1,)) == ()
            found = out.reshape(expected.shape)
            np.testing.assert_array_equal(found, expected, err_msg=f"{shape}, axis {axis}")


@pytest.mark.parametrize("name", ["reduce_max", "reduce_min", "reduce_argmax", "reduce_argmin"])
def test_a_nan_never_wins(name: str) -> None:
    shape = (3, 20)
    function = function_of(name, DTYPES["f32"], shape, 1)
    assert function is not None
    array = np.arange(60, dtype=np.float32).reshape(shape)
    array[0, :], array[1, ::3], array[2, 19] = np.nan, np.nan, np.nan
    expected = OPS[name].meaning(array[None], axis=1)[0]
    out = np.zeros(3, expected.dtype)
    Executable(function).run([ArrayArgument(array.reshape(-1)), ArrayArgument(out)], (1,))
    np.testing.assert_array_equal(out, expected)
