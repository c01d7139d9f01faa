"""Functions of the IR that other front ends make: compiled and launched like kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from eas.backends import checks_by_default, cpu_form, launch_on
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
from eas.runtime.cpu.launch_plan import Layout, Plan
from eas.runtime.refusals import BadArgument, LaunchError
from eas.runtime.streams.active import ACTIVE

Device = Literal["cpu", "metal"]


def launch_function(
    compiled: CompiledKernel,
    arguments: Mapping[str, Any],
    grid: tuple[int, ...],
    *,
    device: Device = "cpu",
    checked: bool | None = None,
) -> None:
    """Runs a compiled function on arrays, by the names of its parameters, over a grid.

    See `FunctionLauncher`, which is faster for many launches.
    """
    launcher = FunctionLauncher(compiled, grid, device=device, checked=checked)
    launcher(*(arguments[name] for name in launcher.names))


class FunctionLauncher:
    """A compiled function with a grid, to be called with arrays in the order of its parameters.

        launch = eas.FunctionLauncher(compiled, (4, 4))
        launch(c, a, b)

    `metal` is the GPU of a Mac; where there is none, its Metal text runs on `msl-host`. The arrays
    are contiguous: a function has no strides unless it has parameters for them. On the CPU, a
    launch that is like an earlier one takes a fast path.
    """

    def __init__(
        self,
        compiled: CompiledKernel,
        grid: tuple[int, ...],
        *,
        device: Device = "cpu",
        checked: bool | None = None,
    ) -> None:
        self.compiled, self.grid, self.checked = compiled, grid, checked
        self.device: Device = device
        params = compiled.function.params
        self.names = tuple(param.name for param in params if param.role == "argument")
        self._extents = (*grid, 1, 1)[:3]
        self._plans: dict[bool, Plan | None] = {}

    @staticmethod
    def backend_of(device: Device) -> Backend:
        """The backend that stands for a device here."""
        if device == "cpu":
            return resolve_backend("cpu")
        return "metal" if automatic() == "metal" else resolve_backend("msl-host")

    def __call__(self, *arrays: Any) -> None:
        try:
            chosen = self.backend_of(self.device)
            checks = choose_checks(self.checked, None)
        except (BackendError, CheckError) as error:
            raise LaunchError(self.compiled.name, str(error)) from error
        wanted = checks_by_default(chosen) if checks is None else checks
        if chosen != "cpu":
            launch_on(chosen, self.compiled, self._bound(arrays), self.grid, wanted)
            return
        plan = self._plans.get(wanted)
        if plan is None or ACTIVE or not plan.run((*arrays, *self._extents)):
            values = self._bound(arrays)
            launch_on(chosen, self.compiled, values, self.grid, wanted)
            if wanted not in self._plans:
                self._plans[wanted] = self._plan(values, wanted)

    def _bound(self, arrays: Sequence[Any]) -> dict[str, Bound]:
        values: dict[str, Bound] = {}
        for name, argument in zip(self.names, arrays, strict=True):
            try:
                values[name] = to_bound(argument, None)[0]
            except BadArgument as error:
                raise LaunchError(self.compiled.name, str(error), name) from error
        return values

    def _plan(self, values: Mapping[str, Bound], checks: bool) -> Plan | None:
        """A plan for launches with arrays like these."""
        form = cpu_form(self.compiled, values, checks)
        layout = Layout(values, {}, frozenset(), values, form.binding.uses, 0)
        return form.executable.plan(lambda: layout)
