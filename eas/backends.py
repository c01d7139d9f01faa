"""How each backend runs a compiled kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from eas.compiler import CompiledKernel
from eas.config import Backend
from eas.ir.diagnostics import Diagnostic
from eas.runtime.errors import KernelError
from eas.runtime.interpreter import ArrayArgument
from eas.runtime.launch import launch
from eas.runtime.refusals import LaunchError
from eas.runtime.values import Bound

Arguments = Sequence[ArrayArgument | np.generic]


def launch_on(
    backend: Backend, compiled: CompiledKernel, values: Mapping[str, Bound], grid: tuple[int, ...]
) -> None:
    """Checks the arguments and runs every program of the grid; an empty grid runs nothing."""
    match backend:
        case "msl-host":
            _launch_text(_run_on_host, compiled, values, grid)
        case "metal":
            _launch_text(_run_on_metal, compiled, values, grid)
        case "cpu":
            _launch_on_cpu(compiled, values, grid)
        case _:
            launch(compiled.binding, values, grid)


# --- backends that run the Metal text -----------------------------------------------------------

# The modules of a backend are imported where it is used: only those who use it pay for it.

# Runs the text on bound arguments; gives what asserts have found.
Run = Callable[[CompiledKernel, Arguments, tuple[int, ...]], tuple[Diagnostic, ...]]


def _launch_text(
    run: Run, compiled: CompiledKernel, values: Mapping[str, Bound], grid: tuple[int, ...]
) -> None:
    from eas.msl.errors import GridError

    arguments = compiled.binding.bind(values)
    try:
        found = () if 0 in grid else run(compiled, arguments, grid)
    except GridError as error:
        raise LaunchError(compiled.name, error.message) from error
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
    from eas import gpu

    return gpu.run(compiled.metal, compiled.function, arguments, grid)


# --- the CPU ------------------------------------------------------------------------------------


def _launch_on_cpu(
    compiled: CompiledKernel, values: Mapping[str, Bound], grid: tuple[int, ...]
) -> None:
    arguments = compiled.binding.bind(values)
    if 0 in grid:
        return
    found = compiled.executable.run(arguments, grid)
    if found:
        raise KernelError(found)
