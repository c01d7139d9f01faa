"""How each backend runs a compiled kernel."""

from __future__ import annotations

from collections.abc import Mapping

from eas.compiler import CompiledKernel
from eas.config import Backend
from eas.runtime.errors import KernelError
from eas.runtime.launch import launch
from eas.runtime.values import Bound


def launch_on(
    backend: Backend, compiled: CompiledKernel, values: Mapping[str, Bound], grid: tuple[int, ...]
) -> None:
    """Checks the arguments and runs every program of the grid; an empty grid runs nothing."""
    if backend == "msl-host":
        _launch_on_host(compiled, values, grid)
    elif backend == "cpu":
        _launch_on_cpu(compiled, values, grid)
    else:
        launch(compiled.binding, values, grid)


def _launch_on_host(
    compiled: CompiledKernel, values: Mapping[str, Bound], grid: tuple[int, ...]
) -> None:
    from eas.msl import host  # only those who use the backend pay for its import

    arguments = compiled.binding.bind(values)
    if 0 in grid:
        return
    found = host.run(compiled.metal, compiled.function.params, arguments, grid)
    if found:
        raise KernelError(found)


def _launch_on_cpu(
    compiled: CompiledKernel, values: Mapping[str, Bound], grid: tuple[int, ...]
) -> None:
    arguments = compiled.binding.bind(values)
    if 0 in grid:
        return
    found = compiled.executable.run(arguments, grid)
    if found:
        raise KernelError(found)
