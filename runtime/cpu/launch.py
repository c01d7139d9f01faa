"""Runs a function's machine code over a grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from eas.ir.nodes import Function
from eas.ir.report_sites import local_extents, sites_of
from eas.llvm import ENTRY
from eas.runtime.argument_values import ArrayArgument, array_in
from eas.runtime.binding import to_argument
from eas.runtime.cpu.build import build
from eas.runtime.cpu.launch_plan import Layout, Plan, make_plan
from eas.runtime.cpu.support import support
from eas.runtime.refusals import LaunchError
from eas.support.cache import Cache
from eas.support.diagnostics import Diagnostic
from eas.support.faults import too_many_programs
from eas.support.report_buffer import ROOM, failure, lost_records, printed, report_buffer

MOST_PLANS = 8
PRINT_WORDS = 1 << 24  # pages that are not written to are never allocated

Argument = ArrayArgument | np.generic
Words = np.ndarray[Any, np.dtype[Any]]


class Executable:
    """The machine code of a function that was relaxed."""

    def __init__(self, function: Function, code_cache: Cache | None = None) -> None:
        self.function = function
        self.sites = sites_of(function)
        self.code = build(function, code_cache, background=support)
        self.entry = self.code[ENTRY]
        self._plans_asked = 0
        self.long_total = np.full(1, (1 << 63) - 1, np.int64)  # see `%job` in support.ll

    def run(
        self,
        arguments: Sequence[Argument],
        grid: Sequence[int],
        program_output: Callable[[str], None] = print,
    ) -> tuple[Diagnostic, ...]:
        """Runs every program of the grid; gives the failed assert or fault, if there is one."""
        return self.job(arguments, grid).run(program_output)

    def job(self, arguments: Sequence[Argument], grid: Sequence[int]) -> Job:
        """A launch with these arguments, which can run at any time, also several times."""
        limit = self.function.programs
        if limit is not None and max(grid) > limit:
            raise LaunchError(self.function.name, too_many_programs(limit, max(grid)))
        x, y, z = (*grid, 1, 1)[:3]
        return Job(self, arguments, (x, y, z))

    def failure(
        self, report: Words, arguments: Sequence[Argument], grid: tuple[int, int, int]
    ) -> Diagnostic | None:
        """What went wrong in a launch with these arguments, if something did."""
        extents = local_extents(self.function)
        for param, argument in zip(self.function.params, arguments, strict=True):
            if isinstance(argument, ArrayArgument):
                extents[param.name] = argument.extent(param.name)
        is_threaded = self.function.threads is not None
        return failure(report, self.sites, grid, extents, is_threaded)

    def plan(self, layout: Callable[[], Layout]) -> Plan | None:
        """A plan for the fast path of launches of this layout; None if there is none.

        At most `MOST_PLANS` are made: if launches keep missing their plans, more would not help.
        """
        has_prints = any(site.kind == "print" for site in self.sites)
        if has_prints or self._plans_asked == MOST_PLANS:
            return None
        self._plans_asked += 1
        support().start()
        known = layout()
        names = tuple(known.row)

        def explain(row: tuple[Any, ...], report: Words) -> Diagnostic:
            arguments = dict(zip(names, row, strict=False))  # the extents of a grid may follow
            return self._explain(arguments, report)

        return make_plan(self.function, self.code, known, bool(self.sites), explain)

    def _explain(self, row: Mapping[str, Any], report: Words) -> Diagnostic:
        """What went wrong in a launch of a plan. Free words of the report hold the grid."""
        found_arrays = {name: array_in(value) for name, value in row.items()}
        arrays = {name: to_argument(a) for name, a in found_arrays.items() if a is not None}
        arguments = [arrays.get(param.name, np.False_) for param in self.function.params]
        x, y, z = map(int, report[ROOM : ROOM + 3])
        found = self.failure(report, arguments, (x, y, z))
        assert found is not None
        return found


JOB_WORDS = 24  # of `%job` in support.ll
_CANCELLED, _RAISED = 16, slice(17, 20)


class Job:
    """A launch of an executable with its arguments in the form that the machine code takes.

    `words` are a `%job` of `support.ll` as it is before a run. It holds the arrays.
    """

    def __init__(
        self, executable: Executable, arguments: Sequence[Argument], grid: tuple[int, int, int]
    ) -> None:
        self.arguments, self.slots = arguments, pack(arguments)
        self.executable, self.grid = executable, grid
        self.has_prints = any(site.kind == "print" for site in executable.sites)
        self.report = report_buffer(0)
        x, y, z = grid
        head = [executable.entry, self.slots.ctypes.data, self._report_address(self.report)]
        tail = [executable.long_total.ctypes.data, 1]
        words = [*head, x * y * z, 0, 1, x, y, z, 0, 0, *tail]
        self.words = np.array([*words, *[0] * (JOB_WORDS - len(words))], np.int64)
        self._running: Words | None = None
        self._is_cancelled = False

    def run(self, program_output: Callable[[str], None] = print) -> tuple[Diagnostic, ...]:
        """Runs every program of the grid; gives the failed assert or fault, if there is one."""
        report = report_buffer(PRINT_WORDS if self.has_prints else 0)
        words = self.words.copy()
        words[2] = self._report_address(report)
        self._run_words(words)
        if self.has_prints:
            for line in printed(report, self.executable.sites):
                program_output(line)
            lost = lost_records(report)
            if lost:
                program_output(f"... and {lost} more, which did not fit into the buffer")
        return self.findings(report)

    def findings(self, report: Words) -> tuple[Diagnostic, ...]:
        """What a report says about a run of this job."""
        found = self.executable.failure(report, self.arguments, self.grid)
        return () if found is None else (found,)

    def cancel(self) -> None:
        """Makes a run in another thread end: no more programs start, others stop at safepoints."""
        self._is_cancelled = True
        running = self._running
        if running is not None:
            running[_CANCELLED] = 1

    def _report_address(self, report: Words) -> int:
        return report.ctypes.data if self.executable.sites else 0

    def _run_words(self, words: Words) -> None:
        """Runs the programs, returning to Python from time to time so that it handles signals."""
        shared = support()
        shared.start()
        self._running, address = words, words.ctypes.data
        if self._is_cancelled:
            return
        try:
            while not shared.work(shared.pool, address):
                pass
        except BaseException:
            words[_CANCELLED] = 1  # start no more programs, and wait for those that run
            shared.work(shared.pool, address)
            raise
        finally:
            self._running = None
        if words[_CANCELLED] and words[_RAISED].any():
            shared.raise_again(*map(int, words[_RAISED]))


def pack(arguments: Sequence[Argument]) -> Words:
    """Eight bytes per argument: an address, or a number in the lowest ones."""
    slots = np.zeros(len(arguments) + 1, np.uint64)
    for n, argument in enumerate(arguments):
        if isinstance(argument, ArrayArgument):
            flat = argument.flat
            slots[n] = flat.ctypes.data + argument.origin * flat.itemsize
        else:
            number = np.array([argument]).view(np.uint8)
            slots[n : n + 1].view(np.uint8)[: number.size] = number
    return slots
