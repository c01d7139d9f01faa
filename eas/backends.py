"""How each backend runs a compiled kernel."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from eas.compiler import CompiledKernel
from eas.config import Backend
from eas.frontend_ast.errors import CompileError
from eas.ir.diagnostics import Diagnostic
from eas.runtime.errors import KernelError
from eas.runtime.interpreter import ArrayArgument
from eas.runtime.launch import launch
from eas.runtime.values import Bound

# The modules of a backend are imported where it is used: only those who use it pay for it.
if TYPE_CHECKING:
    from eas.msl.arrays import Bound as BoundBuffer
    from eas.msl.arrays import Extents
    from eas.runtime.metal import Dispatch, TextError

Arguments = Sequence[ArrayArgument | np.generic]

_FAULT = "this is a fault of easy_as, not of the kernel: please report it"


def launch_on(
    backend: Backend, compiled: CompiledKernel, values: Mapping[str, Bound], grid: tuple[int, ...]
) -> None:
    """Checks the arguments and runs every program of the grid; an empty grid runs nothing."""
    match backend:
        case "msl-host":
            _launch_text(_run_on_host, compiled, values, grid)
        case "metal":
            _launch_text(_run_on_metal, compiled, values, grid)
        case _:
            launch(compiled.binding, values, grid)


# --- backends that run the Metal text -----------------------------------------------------------

# Runs the text on bound arguments; gives what asserts have found.
Run = Callable[[CompiledKernel, Arguments, tuple[int, ...]], tuple[Diagnostic, ...]]


def _launch_text(
    run: Run, compiled: CompiledKernel, values: Mapping[str, Bound], grid: tuple[int, ...]
) -> None:
    arguments = compiled.binding.bind(values)
    found = () if 0 in grid else run(compiled, arguments, grid)
    if found:
        raise KernelError(found)


def _run_on_host(
    compiled: CompiledKernel, arguments: Arguments, grid: tuple[int, ...]
) -> tuple[Diagnostic, ...]:
    from eas.msl import host

    return host.run(compiled.metal, compiled.function.params, arguments, grid)


def _run_on_metal(
    compiled: CompiledKernel, arguments: Arguments, grid: tuple[int, ...]
) -> tuple[Diagnostic, ...]:
    from eas.msl.arrays import divide
    from eas.msl.launch import launch
    from eas.runtime import metal

    text, function = compiled.metal, compiled.function
    device, seconds = metal.default_device(), metal.time_limit(os.environ)
    program = metal.Program(text.text, text.name, text.metal_version, function.fast_math)
    try:
        pipeline = device.pipeline(program)
    except metal.TextError as error:
        raise _refused(error, compiled) from error

    def prepare(buffers: Sequence[BoundBuffer], groups: Extents) -> Dispatch:
        constants = [bound for bound in buffers if bound.is_constant]
        arrays = [bound for bound in buffers if not bound.is_constant]
        regions = divide([bound.flat for bound in arrays])
        return metal.Dispatch(
            device, pipeline, constants, arrays, regions, text.threads, groups, seconds
        )

    return launch(text, function.params, arguments, grid, prepare)


def _refused(error: TextError, compiled: CompiledKernel) -> CompileError:
    """What Metal's compiler says against the text, at the Python lines that it comes from."""
    from eas.msl.errors import REFUSED_TEXT
    from eas.msl.python_lines import python_loc, sources_of

    text, sources = compiled.msl, sources_of(compiled.function)
    found: list[Diagnostic] = []
    for complaint in error.complaints:
        loc = python_loc(text, complaint.line, sources)
        line = text.splitlines()[complaint.line - 1].strip()
        notes = (f"line {complaint.line} of the Metal text: {line}", _FAULT)
        message = f"Metal's compiler refuses the text: {complaint.message}"
        found.append(Diagnostic(REFUSED_TEXT, message, loc, "from here", notes=notes))
    if not found:
        loc = compiled.function.body.ops[0].loc
        found.append(Diagnostic(REFUSED_TEXT, error.message, loc, notes=(_FAULT,)))
    return CompileError(found, compiled.name)
