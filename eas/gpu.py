"""Runs a kernel that `eas.msl` has written on the GPU of a Mac."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from eas.frontend_ast.source.errors import CompileError
from eas.ir.nodes import Function
from eas.msl.arrays import Bound, Extents, divide
from eas.msl.cxx.python_lines import FILE_NAME, python_loc, sources_of
from eas.msl.kernel import MslKernel
from eas.msl.launch import Argument, bind, extents_of, findings, launch
from eas.msl.ops.errors import REFUSED_TEXT
from eas.runtime import metal
from eas.runtime.errors import KernelError
from eas.support.diagnostics import Diagnostic
from eas.support.records import frozen
from eas.support.report_buffer import Words, report_buffer

_FAULT = "this is a fault of easy_as, not of the kernel: please report it"


def run(
    kernel: MslKernel,
    function: Function,
    arguments: Sequence[Argument],
    grid: Sequence[int],
    program_output: Callable[[str], None] = print,
) -> tuple[Diagnostic, ...]:
    """Runs the text and writes the results into the arrays; gives what asserts have found.

    There is one argument per parameter of the function that the text was written for.
    """
    prepare = _prepare_on_device(kernel, function)
    return launch(kernel, function.params, arguments, grid, prepare, program_output)


def _prepare_on_device(
    kernel: MslKernel, function: Function
) -> Callable[[Sequence[Bound], Extents], metal.Dispatch]:
    """What makes dispatches of a text, which is compiled first."""
    device, seconds = metal.default_device(), metal.time_limit(os.environ)
    program = metal.Program(kernel.text, kernel.name, kernel.metal_version, function.fast_math)
    try:
        pipeline = device.pipeline(program)
    except metal.TextError as error:
        raise _refused(error, kernel, function) from error
    written = frozenset(b.index for b in kernel.buffers if b.is_written or b.kind == "report")

    has_prints = any(site.kind == "print" for site in kernel.sites)
    saved = metal.Saved(device)

    def prepare(buffers: Sequence[Bound], groups: Extents) -> metal.Dispatch:
        constants = [bound for bound in buffers if bound.is_constant]
        arrays = [bound for bound in buffers if not bound.is_constant]
        found = [(bound, metal.find_resident(device, bound.flat)) for bound in arrays]
        residents = [(bound, resident) for bound, resident in found if resident is not None]
        copied = [bound for bound, resident in found if resident is None]
        regions = divide([bound.flat for bound in copied])
        changed = [resident for bound, resident in residents if bound.index in written]
        if has_prints and changed:
            saved.restore_or_save(changed)
        return metal.Dispatch(
            *(device, pipeline, constants, copied, regions, kernel.threads, groups, seconds),
            residents,
            written,
        )

    return prepare


class GpuLaunch:
    """A launch of a text with its arguments, which can run at any time, also several times."""

    def __init__(
        self,
        kernel: MslKernel,
        function: Function,
        arguments: Sequence[Argument],
        grid: Sequence[int],
    ) -> None:
        self._kernel, self._function = kernel, function
        self.arguments, self._grid = arguments, grid
        self._extents = extents_of(kernel, grid)
        self._has_prints = any(site.kind == "print" for site in kernel.sites)
        self._recorded: tuple[Words, GpuRun] | None = None

    def run(self) -> tuple[Diagnostic, ...]:
        return run(self._kernel, self._function, self.arguments, self._grid)

    def cancel(self) -> None:
        """A GPU cannot be stopped."""

    def begin(self) -> GpuRun | None:
        """One run, to be encoded. None if the kernel prints: it may have to run twice."""
        return None if self._has_prints else self._begin(report_buffer(0))

    def begin_again(self) -> GpuRun | None:
        """The same as `begin`, without binding: a run that was begun before is reused.

        Two of its runs must not overlap.
        """
        if self._has_prints:
            return None
        if self._recorded is None:
            report = report_buffer(0)
            self._recorded = (report, self._begin(report))
        report, run = self._recorded
        report[:] = 0
        return run

    def _begin(self, report: Words) -> GpuRun:
        prepare = _prepare_on_device(self._kernel, self._function)
        bound = bind(self._kernel, self._function.params, self.arguments, report)

        def read() -> tuple[Diagnostic, ...]:
            arguments, params = self.arguments, self._function.params
            return findings(self._kernel, params, arguments, report, self._extents)

        return GpuRun([prepare(bound, self._extents)], read)


@frozen
class GpuRun:
    """The dispatches of one run, and what its reports say after that."""

    dispatches: Sequence[metal.Dispatch]
    findings: Callable[[], tuple[Diagnostic, ...]]

    def finish(self) -> None:
        found = self.findings()
        if found:
            raise KernelError(found)


def _refused(error: metal.TextError, kernel: MslKernel, function: Function) -> CompileError:
    """The errors of Metal's compiler, at the Python lines that the text comes from."""
    lines, sources = kernel.text.splitlines(), sources_of(function)
    found: list[Diagnostic] = []
    for complaint in error.complaints:
        loc = python_loc(kernel.text, complaint.line, sources)
        line = "".join(lines[complaint.line - 1 : complaint.line]).strip()
        notes = (f"line {complaint.line} of the Metal text: {line}",)
        message = f"Metal's compiler refuses the text: {complaint.message}"
        label = "" if loc.source.name == FILE_NAME else "from here"
        found.append(Diagnostic(REFUSED_TEXT, message, loc, label, notes=(*notes, _FAULT)))
    if not found:
        loc = function.body.ops[0].loc
        found.append(Diagnostic(REFUSED_TEXT, error.message, loc, notes=(_FAULT,)))
    return CompileError(found, function.name)
