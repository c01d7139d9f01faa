"""How each backend runs a compiled kernel."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from eas.compiler import CompiledKernel
from eas.config import Backend
from eas.ir.passes.strides import last_strides
from eas.msl.ops.errors import GridError
from eas.runtime.argument_values import ArrayArgument, Bound
from eas.runtime.errors import KernelError
from eas.runtime.refusals import BadArgument, LaunchError
from eas.support.diagnostics import Diagnostic

Arguments = Sequence[ArrayArgument | np.generic]

# Runs a kernel on bound arguments; gives the faults and failed asserts that were found.
Run = Callable[[CompiledKernel, Arguments, tuple[int, ...]], tuple[Diagnostic, ...]]


def launch_on(
    backend: Backend,
    compiled: CompiledKernel,
    values: Mapping[str, Bound],
    grid: tuple[int, ...],
    checks: bool,
) -> None:
    """Checks the arguments and runs every program of the grid; an empty grid runs nothing.

    With `checks` the backend finds accesses outside of arrays.
    """
    compiled = _form_for(backend, compiled, values, checks)
    arguments = compiled.binding.bind(values)
    if 0 in grid:
        return
    try:
        run = _check_on_host if checks and backend == "msl-host" else _RUNS[backend]
        found = run(compiled, arguments, grid)
    except GridError as error:
        raise LaunchError(compiled.name, error.message) from error
    except BadArgument as error:  # of the environment's variables
        raise LaunchError(compiled.name, str(error)) from error
    if found:
        raise KernelError(found)


def checks_by_default(backend: Backend) -> bool:
    """Whether a backend checks accesses if nothing says otherwise."""
    return backend == "cpu"


def cpu_form(compiled: CompiledKernel, values: Mapping[str, Bound], checks: bool) -> CompiledKernel:
    """The kernel as the CPU runs it for these arguments."""
    chosen = compiled.unit_stride if has_unit_strides(compiled, values) else compiled
    return chosen.checked if checks else chosen


def has_unit_strides(compiled: CompiledKernel, values: Mapping[str, Bound]) -> bool:
    """Whether the last axes of the arrays that a kernel indexes have unit stride.

    Of an axis with one element the stride makes no difference.
    """
    for param in last_strides(compiled.function):
        array: Any = values[param.array]
        if array.shape[param.axis] > 1 and array.strides[param.axis] != array.itemsize:
            return False
    return True


def _form_for(
    backend: Backend, compiled: CompiledKernel, values: Mapping[str, Bound], checks: bool
) -> CompiledKernel:
    if backend == "cpu":
        return cpu_form(compiled, values, checks)
    return compiled.checked if checks and backend in ("metal", "msl-host") else compiled


def _run_on_cpu(
    compiled: CompiledKernel, arguments: Arguments, grid: tuple[int, ...]
) -> tuple[Diagnostic, ...]:
    return compiled.executable.run(arguments, grid)


# The modules of the other backends are imported where they are used: only their users pay for it.


def _run_on_interpreter(
    compiled: CompiledKernel, arguments: Arguments, grid: tuple[int, ...]
) -> tuple[Diagnostic, ...]:
    from eas.runtime import interpreter

    limits = interpreter.limits_of(os.environ)
    interpreter.run(compiled.function, arguments, grid, limits=limits)
    return ()


def _run_on_host(
    compiled: CompiledKernel, arguments: Arguments, grid: tuple[int, ...]
) -> tuple[Diagnostic, ...]:
    from eas.msl import host

    return host.run(compiled.metal, compiled.function.params, arguments, grid)


def _check_on_host(
    compiled: CompiledKernel, arguments: Arguments, grid: tuple[int, ...]
) -> tuple[Diagnostic, ...]:
    """Runs the text, which has checks of its own, in check mode first: arrays stay as they are."""
    from eas.msl import host

    kernel, function = compiled.metal, compiled.function
    found = host.check(kernel, function, arguments, grid, host.default_checked_host())
    return found or host.run(kernel, function.params, arguments, grid)


def _run_on_metal(
    compiled: CompiledKernel, arguments: Arguments, grid: tuple[int, ...]
) -> tuple[Diagnostic, ...]:
    from eas import gpu

    return gpu.run(compiled.metal, compiled.function, arguments, grid)


_RUNS: dict[Backend, Run] = {
    "cpu": _run_on_cpu,
    "interpret": _run_on_interpreter,
    "msl-host": _run_on_host,
    "metal": _run_on_metal,
}
