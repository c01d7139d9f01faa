"""Runs a kernel that `eas.msl` has written over a grid of programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from eas.ir.diagnostics import Diagnostic
from eas.ir.nodes import Param
from eas.ir.reports import Words, failure, needed_room, printed, report_buffer
from eas.msl import Buffer, MslKernel
from eas.msl.host.arrays import Array
from eas.msl.host.build import Library
from eas.msl.host.dispatch import Bound, Dispatch, Extents
from eas.msl.host.errors import HostError
from eas.msl.host.process import Host, default_host

PRINT_WORDS = 1 << 12
MOST_PRINT_WORDS = 1 << 26


class ArrayArgument(Protocol):
    """An array: the element at offset `o` is `flat[origin + o]`."""

    @property
    def flat(self) -> Array: ...
    @property
    def origin(self) -> int: ...


Argument = ArrayArgument | np.generic | bool | int | float


def run(
    kernel: MslKernel,
    params: Sequence[Param],
    arguments: Sequence[Argument],
    grid: Sequence[int],
    *,
    host: Host | None = None,
    library: Library | None = None,
    unit: int = 0,
    order: str = "forward",
    program_output: Callable[[str], None] = print,
) -> tuple[Diagnostic, ...]:
    """Runs the text and writes the results into the arrays; gives what asserts have found.

    There is one argument per parameter of the kernel's function. A `library` may hold the kernel
    already, as its `unit`-th text. The `order` is that of threads that could run in any.
    """
    host = host or default_host()
    extents = extents_of(kernel, grid)
    library = library or host.builder.build([kernel.text])
    room = PRINT_WORDS if any(site.kind == "print" for site in kernel.sites) else 0
    with host.lock:
        while True:
            report = report_buffer(room)
            buffers = bind(kernel, params, arguments, report)
            threads = (kernel.threads, 1, 1)
            dispatch = Dispatch(
                host, library, kernel.name, buffers, threads, extents, unit, order=order
            )
            dispatch.run()
            dispatch.write_back(*_indices(kernel, "report"))
            if needed_room(report) <= room or room == MOST_PRINT_WORDS:
                break
            room = min(needed_room(report), MOST_PRINT_WORDS)
        written = (n for n in _indices(kernel, "array") if buffers[n].flat.flags.writeable)
        dispatch.write_back(*written)
    for line in printed(report, kernel.sites):
        program_output(line)
    found = failure(report, kernel.sites, extents)
    return () if found is None else (found,)


def extents_of(kernel: MslKernel, grid: Sequence[int]) -> Extents:
    """The grid along three axes; refuses more programs than the text's indices reach."""
    if max(grid) > kernel.programs:
        message = f"its indices are for {kernel.programs} programs along an axis, not {max(grid)}"
        raise HostError(message, kernel.name)
    x, y, z = (*grid, 1, 1)[:3]
    return x, y, z


def _indices(kernel: MslKernel, kind: str) -> list[int]:
    return [buffer.index for buffer in kernel.buffers if buffer.kind == kind]


def bind(
    kernel: MslKernel, params: Sequence[Param], arguments: Sequence[Argument], report: Words
) -> list[Bound]:
    """The array at each buffer index of the text."""
    return [_bind(buffer, params, arguments, report) for buffer in kernel.buffers]


def _bind(
    buffer: Buffer, params: Sequence[Param], arguments: Sequence[Argument], report: Words
) -> Bound:
    match buffer.kind:
        case "array":
            argument: Any = arguments[buffer.parameter]
            return Bound(buffer.index, argument.flat, argument.origin)
        case "scalar":
            dtype = params[buffer.parameter].value.ty.dtype
            return Bound(buffer.index, np.array([arguments[buffer.parameter]], dtype.numpy))
        case "scalars":
            return Bound(buffer.index, _struct(buffer, arguments))
        case "report":
            return Bound(buffer.index, report)


def _struct(buffer: Buffer, arguments: Sequence[Argument]) -> Array:
    last = buffer.fields[-1]
    size = last.offset + max(last.dtype.bits // 8, 1)
    flat = np.zeros(-(-size // 16) * 16, np.uint8)
    for each in buffer.fields:
        value = np.array([arguments[each.parameter]], each.dtype.numpy).view(np.uint8)
        flat[each.offset : each.offset + value.size] = value
    return flat
