"""Check mode: runs a kernel with every access checked, and reports bugs at their Python lines."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import Function
from eas.msl.cxx.python_lines import FILE_NAME, python_loc, sources_of
from eas.msl.host.build import CHECKED, Library
from eas.msl.host.dispatch import ORDERS, Dispatch
from eas.msl.host.findings import Finding, KernelFault
from eas.msl.host.python_places import access_loc
from eas.msl.host.worker_client import Host
from eas.msl.kernel import MslKernel
from eas.msl.launch import Argument, bind, extents_of
from eas.support.diagnostics import Diagnostic, Label
from eas.support.location import Loc
from eas.support.report_buffer import report_buffer


def check(
    kernel: MslKernel,
    function: Function,
    arguments: Sequence[Argument],
    grid: Sequence[int],
    host: Host,
    *,
    library: Library | None = None,
    unit: int = 0,
) -> tuple[Diagnostic, ...]:
    """The first bug that each order of threads shows, without duplicates; arrays stay as they are.

    The host is one that `is_checked`, and so is the library, if there is one.
    """
    library = library or host.builder.build([kernel.text], CHECKED)
    buffers = bind(kernel, function.params, arguments, report_buffer(0))
    threads, groups = (kernel.threads, 1, 1), extents_of(kernel, grid)
    found: dict[Diagnostic, None] = {}
    for order in ORDERS:
        dispatch = Dispatch(host, library, kernel.name, buffers, threads, groups, unit, order=order)
        with host.exclusive():
            try:
                dispatch.run()
            except KernelFault as fault:
                found[to_diagnostic(fault.finding, kernel.text, function, kernel)] = None
    return tuple(found)


def to_diagnostic(
    finding: Finding, text: str, function: Function | None = None, kernel: MslKernel | None = None
) -> Diagnostic:
    """A finding at the place in the Python source, or in the text if that names none."""
    line = _reported_line(finding, text)
    loc = _loc(line, finding.is_write, finding, text, function, kernel)
    secondary: tuple[Label, ...] = ()
    if finding.other_line not in (0, finding.line):
        is_write = finding.is_write_of_other
        other = _loc(finding.other_line, is_write, finding, text, function, kernel)
        secondary = (Label(other, "the other access"),) if other != loc else ()
    others = [finding.other_line] if finding.other_line else []
    lines = [finding.line, *([line] if line != finding.line else []), *others]
    shown = [f"line {n} of the Metal text: {text.splitlines()[n - 1].strip()}" for n in lines]
    notes = (*dict.fromkeys(shown), finding.place)
    return Diagnostic(finding.code, finding.title, loc, "here", secondary, notes)


def _reported_line(finding: Finding, text: str) -> int:
    """The line of the text whose Python line is reported: for a helper of ours, its call."""
    lines = (finding.line, *finding.callers)
    users = (line for line in lines if python_loc(text, line, {}).source.name != FILE_NAME)
    return next(users, finding.line)


def _loc(
    line: int,
    is_write: bool | None,
    finding: Finding,
    text: str,
    function: Function | None,
    kernel: MslKernel | None,
) -> Loc:
    loc = python_loc(text, line, {} if function is None else sources_of(function))
    if function is None or kernel is None or not finding.is_access:
        return loc
    return access_loc(loc, kernel, function, finding.buffer, is_write)
