"""Runs a function of numbers in CPython, as programs with scalars, and lane by lane."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import eas
from eas import mk

Function = Callable[..., Any]
Array = np.ndarray[Any, np.dtype[Any]]

# Enough to take every path of small functions, and both signs.
NUMBERS = (-7, -2, -1, 0, 1, 2, 3, 10)


@eas.kernel
def by_program(
    function: eas.constexpr, ARGUMENTS: eas.constexpr, IS_TUPLE: eas.constexpr, inputs, out, log
):
    i = mk.program_id(0)
    result = function(i, log, *[inputs[k, i] for k in mk.static_range(ARGUMENTS)])
    for place, value in enumerate(result if IS_TUPLE else (result,)):
        out[i, place] = value


@eas.kernel
def by_lane(
    function: eas.constexpr,
    ARGUMENTS: eas.constexpr,
    IS_TUPLE: eas.constexpr,
    inputs,
    out,
    log,
    BLOCK: eas.constexpr,
):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    result = function(i, log, *[inputs[k, i] for k in mk.static_range(ARGUMENTS)])
    for place, value in enumerate(result if IS_TUPLE else (result,)):
        out[i, place] = value


def same_as_cpython(
    function: Function,
    *columns: Sequence[float],
    out: str = "int32",
    traced: bool = False,
) -> None:
    """Fails if a function of numbers does not give the same in all three ways.

    It is called with every combination of the numbers in the columns (one column of `NUMBERS` if
    there is none); ints are i32, floats f32. A traced function takes two more arguments, `i` and
    `log`, and leaves its trace in the row `log[i, :]`.
    """
    rows = list(itertools.product(*(columns or (NUMBERS,))))
    inputs = np.array(rows).T
    inputs = np.ascontiguousarray(inputs, np.int32 if inputs.dtype.kind == "i" else np.float32)
    called = function if traced else _without_trace(function)
    expected, expected_log = _in_cpython(called, inputs, out)
    is_tuple = isinstance(called(0, np.zeros((1, 8), int), *rows[0]), tuple)
    for kernel, programs, more in (
        (by_program, len(rows), {}),
        (by_lane, 1, {"BLOCK": len(rows)}),
        (by_lane, len(rows), {"BLOCK": 1}),
    ):
        result, log = np.zeros_like(expected), np.zeros_like(expected_log)
        kernel[programs](called, len(inputs), is_tuple, inputs, result, log, **more)
        np.testing.assert_array_equal(result, expected, err_msg=kernel.name, strict=True)
        np.testing.assert_array_equal(log, expected_log, err_msg=kernel.name, strict=True)


def _without_trace(function: Function) -> Function:
    def call(i, log, *numbers):
        return function(*numbers)

    return call


def _in_cpython(function: Function, inputs: Array, out: str) -> tuple[Array, Array]:
    log = np.zeros((inputs.shape[1], 8), np.int32)
    results = [function(i, log, *column.tolist()) for i, column in enumerate(inputs.T)]
    return np.array(results, out).reshape(len(results), -1), log


def codes_of(function: Function, *types: str, **constants: Any) -> list[str]:
    """The codes of the errors with which a kernel is refused."""
    try:
        eas.kernel(function).compile(*types, **constants)
    except eas.CompileError as error:
        return [diagnostic.code for diagnostic in error.diagnostics]
    return []
