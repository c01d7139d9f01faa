"""A launch of a Metal text: the part that all runtimes have in common.

Binds the arguments to the buffers of the text, runs it, and decodes what asserts and prints have
written to the report.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from eas.ir.nodes import Param
from eas.msl.arrays import Array, Bound, Extents
from eas.msl.kernel import Buffer, MslKernel
from eas.msl.ops.errors import GridError
from eas.support.diagnostics import Diagnostic
from eas.support.faults import Extent, too_many_programs
from eas.support.report_buffer import Words, failure, needed_room, printed, report_buffer

PRINT_WORDS = 1 << 12
MOST_PRINT_WORDS = 1 << 26


class ArrayArgument(Protocol):
    """An array: the element at offset `o` is `flat[origin + o]`."""

    @property
    def flat(self) -> Array: ...
    @property
    def origin(self) -> int: ...
    def extent(self, name: str) -> Extent: ...


Argument = ArrayArgument | np.generic | bool | int | float
_NUMBERS = (np.generic, bool, int, float)


class Dispatch(Protocol):
    """One run of a kernel on copies of its arrays."""

    def run(self) -> None:
        """Runs every thread."""
        ...

    def write_back(self, *indices: int) -> None:
        """Copies the buffers at some indices back into their arrays."""
        ...


# Prepares a dispatch from the buffers and the number of threadgroups along each axis.
Prepare = Callable[[Sequence[Bound], Extents], Dispatch]


def launch(
    kernel: MslKernel,
    params: Sequence[Param],
    arguments: Sequence[Argument],
    grid: Sequence[int],
    prepare: Prepare,
    program_output: Callable[[str], None] = print,
) -> tuple[Diagnostic, ...]:
    """Runs the text and writes the results into the arrays; returns what asserts have found.

    There is one argument per parameter of the kernel's function. If a kernel prints more than fits
    into the report, it runs again with a larger one: its arrays are only written back after that.
    """
    extents = extents_of(kernel, grid)
    room = PRINT_WORDS if any(site.kind == "print" for site in kernel.sites) else 0
    while True:
        report = report_buffer(room)
        dispatch = prepare(bind(kernel, params, arguments, report), extents)
        dispatch.run()
        dispatch.write_back(*(b.index for b in kernel.buffers if b.kind == "report"))
        if needed_room(report) <= room or room == MOST_PRINT_WORDS:
            break
        room = min(needed_room(report), MOST_PRINT_WORDS)
    dispatch.write_back(*(b.index for b in kernel.buffers if b.kind == "array" and b.is_written))
    for line in printed(report, kernel.sites):
        program_output(line)
    return findings(kernel, params, arguments, report, extents)


def findings(
    kernel: MslKernel,
    params: Sequence[Param],
    arguments: Sequence[Argument],
    report: Words,
    extents: Extents,
) -> tuple[Diagnostic, ...]:
    """What a report says about a launch."""
    arrays = {each.name: each for each in kernel.memory}
    for param, argument in zip(params, arguments, strict=True):
        if not isinstance(argument, _NUMBERS):
            arrays[param.name] = argument.extent(param.name)
    found = failure(report, kernel.sites, extents, arrays, kernel.is_threaded)
    return () if found is None else (found,)


def extents_of(kernel: MslKernel, grid: Sequence[int]) -> Extents:
    """The grid along three axes; refuses more programs than the text's index arithmetic allows."""
    if max(grid) > kernel.programs:
        raise GridError(too_many_programs(kernel.programs, max(grid)), kernel.name)
    x, y, z = (*grid, 1, 1)[:3]
    return x, y, z


def bind(
    kernel: MslKernel, params: Sequence[Param], arguments: Sequence[Argument], report: Words
) -> list[Bound]:
    """The array at each buffer index of the text."""
    return [_bind(buffer, params, arguments, report) for buffer in kernel.buffers]


def _bind(
    buffer: Buffer, params: Sequence[Param], arguments: Sequence[Argument], report: Words
) -> Bound:
    index, name = buffer.index, buffer.kind
    match buffer.kind:
        case "array":
            argument: Any = arguments[buffer.parameter]
            return Bound(index, argument.flat, argument.origin, params[buffer.parameter].name)
        case "scalar":
            param = params[buffer.parameter]
            flat = np.array([arguments[buffer.parameter]], param.value.ty.dtype.numpy)
            return Bound(index, flat, name=param.name, is_constant=True)
        case "scalars":
            return Bound(index, _struct(buffer, arguments), name=name, is_constant=True)
        case "report":
            return Bound(index, report, name=name)


def _struct(buffer: Buffer, arguments: Sequence[Argument]) -> Array:
    last = buffer.fields[-1]
    size = last.offset + max(last.dtype.bits // 8, 1)
    flat = np.zeros(-(-size // 16) * 16, np.uint8)
    for each in buffer.fields:
        value = np.array([arguments[each.parameter]], each.dtype.numpy).view(np.uint8)
        flat[each.offset : each.offset + value.size] = value
    return flat
