"""Runs a function's machine code over a grid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eas.ir.cache import Cache
from eas.ir.diagnostics import Diagnostic
from eas.ir.nodes import Function
from eas.ir.reports import failure, lost_records, printed, report_buffer, sites_of
from eas.runtime.cpu.build import ENTRY, build
from eas.runtime.cpu.plan import Layout, Plan, make_plan
from eas.runtime.cpu.support import support
from eas.runtime.refusals import LaunchError
from eas.runtime.values import ArrayArgument

MOST_PLANS = 8
PRINT_WORDS = 1 << 24  # memory that is not written to is never there

Argument = ArrayArgument | np.generic
Words = np.ndarray[Any, np.dtype[Any]]


class Executable:
    """A function that was relaxed, as machine code."""

    def __init__(self, function: Function, kept: Cache | None = None) -> None:
        self.function = function
        self.sites = sites_of(function)
        self.code = build(function, kept, beside=support)
        self.entry = self.code[ENTRY]
        self._plans_asked = 0
        self._long = np.full(1, (1 << 63) - 1, np.int64)

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
        has_prints = any(site.kind == "print" for site in self.sites)
        report = report_buffer(PRINT_WORDS if has_prints else 0)
        self._work(pack(arguments), report, (x, y, z))
        for line in printed(report, self.sites):
            program_output(line)
        lost = lost_records(report)
        if lost:
            program_output(f"... and {lost} more, for which there was no room")
        found = failure(report, self.sites, (x, y, z))
        return () if found is None else (found,)

    def plan(self, layout: Callable[[], Layout]) -> Plan | None:
        """A shorter way for launches of this layout, if there is one and few were asked for.

        Where arguments never are as a plan wants them, another one would not help.
        """
        if self.sites or self._plans_asked == MOST_PLANS:
            return None
        self._plans_asked += 1
        support().start()
        return make_plan(self.function, self.code, layout())

    def _work(self, slots: Words, report: Words, extents: tuple[int, int, int]) -> None:
        """Runs the programs in parts, so that Python sees signals in between."""
        shared = support()
        shared.start()
        x, y, z = extents
        head = [self.entry, slots.ctypes.data, report.ctypes.data if self.sites else 0]
        tail = [self._long.ctypes.data, 1, *[0] * 7]
        job = np.array([*head, x * y * z, 0, 1, x, y, z, 0, 0, *tail], np.int64)
        try:
            while not shared.work(shared.pool, job.ctypes.data):
                pass
        except BaseException:
            job[16] = 1  # no more programs begin; those that run are waited for
            shared.work(shared.pool, job.ctypes.data)
            raise
        if job[16]:
            shared.raise_again(*map(int, job[17:20]))


def pack(arguments: Sequence[Argument]) -> Words:
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
