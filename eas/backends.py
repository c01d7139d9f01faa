"""How each backend runs a compiled kernel."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

import numpy as np

from eas.compiler import CompiledKernel
from eas.config import Backend, resolve_backend
from eas.ir.passes.strides import last_strides
from eas.msl.ops.errors import GridError
from eas.runtime.argument_values import ArrayArgument
from eas.runtime.argument_values import Bound as BoundValue
from eas.runtime.errors import KernelError
from eas.runtime.refusals import BadArgument, LaunchError
from eas.runtime.streams.active import ACTIVE
from eas.support.diagnostics import Diagnostic
from eas.support.records import frozen, replace

if TYPE_CHECKING:
    from eas.gpu import GpuLaunch, GpuRun
    from eas.runtime.streams.hazards import Access

Arguments = Sequence[ArrayArgument | np.generic]
Findings = tuple[Diagnostic, ...]  # the faults and failed asserts of a launch


class Bound(Protocol):
    """A launch whose arguments are bound: it can run at any time, also several times."""

    def run(self) -> Findings: ...
    def cancel(self) -> None: ...


# Binds a kernel to arguments and a grid.
Bind = Callable[[CompiledKernel, Arguments, tuple[int, ...]], Bound]


@frozen
class LaunchCall:
    """What a launch was called with: the kernel as it was compiled, its arguments, its checks."""

    compiled: CompiledKernel
    values: Mapping[str, BoundValue]
    checks: bool


@frozen(slots=False)
class PreparedLaunch:
    """A launch that was checked: `run` runs every program of the grid, and raises what went wrong.

    `accesses` are the bytes that it reads and writes.
    """

    compiled: CompiledKernel
    backend: Backend
    bound: Bound
    arguments: Arguments
    grid: tuple[int, ...]
    call: LaunchCall

    @property
    def device(self) -> str:
        return "metal" if self.backend == "metal" else "cpu"

    @cached_property
    def accesses(self) -> tuple[Access, ...]:
        found: list[Access] = []
        uses = self.compiled.binding.uses
        for param, argument in zip(self.compiled.function.params, self.arguments, strict=True):
            if isinstance(argument, ArrayArgument):
                use, begin = uses[param.name], argument.flat.ctypes.data
                if use.is_read or use.is_written:
                    found.append((begin, begin + argument.flat.nbytes, use.is_written))
        return tuple(found)

    def run(self) -> None:
        try:
            found = self.bound.run()
        except (GridError, BadArgument) as error:
            raise _refused(self.compiled, error) from None
        if found:
            raise KernelError(found)

    def cancel(self) -> None:
        self.bound.cancel()

    def begin(self) -> GpuRun | None:
        """A run that the queue of a GPU encodes."""
        return cast("GpuLaunch", self.bound).begin()

    def with_scalars(self, scalars: Mapping[str, np.generic]) -> PreparedLaunch:
        """The launch with other values for some of its scalar parameters, of the same dtypes."""
        arguments = [
            scalars.get(param.name, argument) if param.role == "argument" else argument
            for param, argument in zip(self.compiled.function.params, self.arguments, strict=True)
        ]
        bind = _bind_for(self.backend, self.call.checks)
        bound = bind(self.compiled, arguments, self.grid)
        return replace(self, bound=bound, arguments=arguments)


def prepare_on(
    backend: Backend,
    compiled: CompiledKernel,
    values: Mapping[str, BoundValue],
    grid: tuple[int, ...],
    checks: bool,
) -> PreparedLaunch | None:
    """Checks the arguments of a launch; None for an empty grid, which runs nothing.

    With `checks` the backend finds accesses outside of arrays.
    """
    call = LaunchCall(compiled, values, checks)
    compiled = _form_for(backend, compiled, values, checks)
    arguments = compiled.binding.bind(values)
    if 0 in grid:
        return None
    try:
        bound = _bind_for(backend, checks)(compiled, arguments, grid)
    except (GridError, BadArgument) as error:
        raise _refused(compiled, error) from None
    return PreparedLaunch(compiled, backend, bound, arguments, grid, call)


def launch_on(
    backend: Backend,
    compiled: CompiledKernel,
    values: Mapping[str, BoundValue],
    grid: tuple[int, ...],
    checks: bool,
    *,
    is_synchronous: bool = True,
) -> None:
    """Checks the arguments and runs every program of the grid; an empty grid runs nothing.

    It runs now, if nothing in flight uses the same memory. A launch that is not synchronous is put
    into a stream.
    """
    prepared = prepare_on(backend, compiled, values, grid, checks)
    if prepared is None:
        return
    if not is_synchronous or ACTIVE:
        from eas.asynchronous import launch_in_order  # only its users pay for the import

        launch_in_order(prepared, is_synchronous)
    else:
        prepared.run()


def _refused(compiled: CompiledKernel, error: GridError | BadArgument) -> LaunchError:
    """A grid that the kernel cannot have, or a wrong variable of the environment."""
    message = error.message if isinstance(error, GridError) else str(error)
    return LaunchError(compiled.name, message)


def backend_of_metal_tensors(
    kernel: str, devices: Mapping[str, str], at_launch: Backend | Literal[""]
) -> Backend:
    """The backend of a launch with tensors on Metal: theirs, unless the launch asks for another.

    `at_launch` is what the launch itself asks for. That is refused, and so are tensors of several
    devices.
    """
    on_metal = next(name for name, device in devices.items() if device == "metal")
    for name, device in devices.items():
        if device != "metal":
            raise LaunchError(
                kernel,
                f"it is on {device}, and `{on_metal}` is on metal: a launch takes tensors of one "
                f'device, for example `{name}.to("metal")`',
                name,
            )
    if at_launch not in ("", "metal"):
        raise LaunchError(
            kernel,
            f'it is on metal, and `_backend="{at_launch}"` does not run there: leave that out, or '
            f'pass `{on_metal}.to("cpu")`',
            on_metal,
        )
    return resolve_backend("metal")


def checks_by_default(backend: Backend) -> bool:
    """Whether a backend checks accesses if nothing says otherwise."""
    return backend == "cpu"


def cpu_form(
    compiled: CompiledKernel, values: Mapping[str, BoundValue], checks: bool
) -> CompiledKernel:
    """The kernel as the CPU runs it for these arguments."""
    chosen = compiled.unit_stride if has_unit_strides(compiled, values) else compiled
    return chosen.checked if checks else chosen


def has_unit_strides(compiled: CompiledKernel, values: Mapping[str, BoundValue]) -> bool:
    """Whether the last axes of the arrays that a kernel indexes have unit stride.

    Of an axis with one element the stride makes no difference.
    """
    for param in last_strides(compiled.function):
        array: Any = values[param.array]
        if array.shape[param.axis] > 1 and array.strides[param.axis] != array.itemsize:
            return False
    return True


def _form_for(
    backend: Backend, compiled: CompiledKernel, values: Mapping[str, BoundValue], checks: bool
) -> CompiledKernel:
    if backend == "cpu":
        return cpu_form(compiled, values, checks)
    return compiled.checked if checks and backend in ("metal", "msl-host") else compiled


def _bind_on_cpu(compiled: CompiledKernel, arguments: Arguments, grid: tuple[int, ...]) -> Bound:
    return compiled.executable.job(arguments, grid)


# The modules of the other backends are imported where they are used: only their users pay for it.


class _Call:
    """A launch that a function runs to its end, whatever happens meanwhile."""

    def __init__(
        self,
        run: Callable[[CompiledKernel, Arguments, tuple[int, ...]], Findings],
        compiled: CompiledKernel,
        arguments: Arguments,
        grid: tuple[int, ...],
    ) -> None:
        self.run = partial(run, compiled, arguments, grid)

    def cancel(self) -> None:
        """It ends by itself: the interpreter and the host have limits."""


def _run_on_interpreter(
    compiled: CompiledKernel, arguments: Arguments, grid: tuple[int, ...]
) -> Findings:
    from eas.runtime import interpreter

    limits = interpreter.limits_of(os.environ)
    interpreter.run(compiled.function, arguments, grid, limits=limits)
    return ()


def _run_on_host(compiled: CompiledKernel, arguments: Arguments, grid: tuple[int, ...]) -> Findings:
    from eas.msl import host

    return host.run(compiled.metal, compiled.function.params, arguments, grid)


def _check_on_host(
    compiled: CompiledKernel, arguments: Arguments, grid: tuple[int, ...]
) -> Findings:
    """Runs the text, which has checks of its own, in check mode first: arrays stay as they are."""
    from eas.msl import host

    kernel, function = compiled.metal, compiled.function
    found = host.check(kernel, function, arguments, grid, host.default_checked_host())
    return found or host.run(kernel, function.params, arguments, grid)


def _bind_on_metal(compiled: CompiledKernel, arguments: Arguments, grid: tuple[int, ...]) -> Bound:
    from eas import gpu

    return gpu.GpuLaunch(compiled.metal, compiled.function, arguments, grid)


def _bind_for(backend: Backend, checks: bool) -> Bind:
    return _CHECKED_HOST if checks and backend == "msl-host" else _BINDS[backend]


_CHECKED_HOST: Bind = partial(_Call, _check_on_host)
_BINDS: dict[Backend, Bind] = {
    "cpu": _bind_on_cpu,
    "interpret": partial(_Call, _run_on_interpreter),
    "msl-host": partial(_Call, _run_on_host),
    "metal": _bind_on_metal,
}
