"""Functions of the IR that other front ends make: compiled and launched like kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from eas.backends import checks_by_default, launch_on
from eas.compiler import CompiledKernel
from eas.config import (
    Backend,
    BackendError,
    CheckError,
    automatic,
    choose_checks,
    resolve_backend,
)
from eas.runtime.argument_values import Bound, to_bound
from eas.runtime.refusals import BadArgument, LaunchError


def launch_function(
    compiled: CompiledKernel,
    arguments: Mapping[str, Any],
    grid: tuple[int, ...],
    *,
    device: Literal["cpu", "metal"] = "cpu",
    checked: bool | None = None,
) -> None:
    """Runs a compiled function on arrays, by the names of its parameters, over a grid.

    `metal` is the GPU of a Mac; where there is none, its Metal text runs on `msl-host`. The arrays
    are contiguous: a function has no strides unless it has parameters for them.
    """
    try:
        chosen = _backend_of(device)
        checks = choose_checks(checked, None)
    except (BackendError, CheckError) as error:
        raise LaunchError(compiled.name, str(error)) from error
    values: dict[str, Bound] = {}
    for name, argument in arguments.items():
        try:
            values[name] = to_bound(argument, None)[0]
        except BadArgument as error:
            raise LaunchError(compiled.name, str(error), name) from error
    wanted = checks_by_default(chosen) if checks is None else checks
    launch_on(chosen, compiled, values, grid, wanted)


def _backend_of(device: Literal["cpu", "metal"]) -> Backend:
    if device == "cpu":
        return resolve_backend("cpu")
    return "metal" if automatic() == "metal" else resolve_backend("msl-host")
