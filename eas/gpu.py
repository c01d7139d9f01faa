"""Runs a kernel that `eas.msl` has written on the GPU of a Mac."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from eas.frontend_ast.source.errors import CompileError
from eas.ir.nodes import Function
from eas.msl import MslKernel
from eas.msl.arrays import Bound, Extents, divide
from eas.msl.cxx.python_lines import FILE_NAME, python_loc, sources_of
from eas.msl.launch import Argument, launch
from eas.msl.ops.errors import REFUSED_TEXT
from eas.runtime import metal
from eas.support.diagnostics import Diagnostic

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
    device, seconds = metal.default_device(), metal.time_limit(os.environ)
    program = metal.Program(kernel.text, kernel.name, kernel.metal_version, function.fast_math)
    try:
        pipeline = device.pipeline(program)
    except metal.TextError as error:
        raise _refused(error, kernel, function) from error

    def prepare(buffers: Sequence[Bound], groups: Extents) -> metal.Dispatch:
        constants = [bound for bound in buffers if bound.is_constant]
        arrays = [bound for bound in buffers if not bound.is_constant]
        regions = divide([bound.flat for bound in arrays])
        return metal.Dispatch(
            device, pipeline, constants, arrays, regions, kernel.threads, groups, seconds
        )

    return launch(kernel, function.params, arguments, grid, prepare, program_output)


def _refused(error: metal.TextError, kernel: MslKernel, function: Function) -> CompileError:
    """What Metal's compiler says against the text, at the Python lines that it comes from."""
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
