"""Runs a function's machine code over a grid."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eas.ir.diagnostics import Diagnostic
from eas.ir.nodes import Function
from eas.ir.reports import failure, printed, report_buffer, sites_of
from eas.runtime.cpu.build import build
from eas.runtime.interpreter import ArrayArgument
from eas.runtime.refusals import LaunchError

PRINT_WORDS = 1 << 12
MOST_PRINT_WORDS = 1 << 26

Argument = ArrayArgument | np.generic
_Entry = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.c_int32,
)


class Executable:
    """A function that was relaxed, as machine code."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.sites = sites_of(function)
        self.address = build(function)
        self._entry = _Entry(self.address)

    def run(
        self,
        arguments: Sequence[Argument],
        grid: Sequence[int],
        program_output: Callable[[str], None] = print,
    ) -> tuple[Diagnostic, ...]:
        """Runs every program of the grid; gives what asserts have found."""
        limit = self.function.programs
        if limit is not None and max(grid) > limit:
            message = f"its indices are for {limit} programs along an axis, not {max(grid)}"
            raise LaunchError(self.function.name, message)
        x, y, z = (*grid, 1, 1)[:3]
        slots = pack(arguments)
        room = PRINT_WORDS if any(site.kind == "print" for site in self.sites) else 0
        report = report_buffer(room)
        self._entry(slots.ctypes.data, report.ctypes.data, 0, x * y * z, x, y, z)
        for line in printed(report, self.sites):
            program_output(line)
        found = failure(report, self.sites, (x, y, z))
        return () if found is None else (found,)


def pack(arguments: Sequence[Argument]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Eight bytes per argument: an address, or a number at the lower end."""
    slots = np.zeros(len(arguments) + 1, np.uint64)
    for n, argument in enumerate(arguments):
        if isinstance(argument, ArrayArgument):
            flat = argument.flat
            slots[n] = flat.ctypes.data + argument.origin * flat.itemsize
        else:
            number = np.array([argument]).view(np.uint8)
            slots[n : n + 1].view(np.uint8)[: number.size] = number
    return slots
