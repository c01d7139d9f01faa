"""The launch fast path: a launch that is like an earlier one calls its compiled code directly.

The first launch takes the slow path, which checks everything. If it ran on the CPU, a launch plan
is cached. The plan compares the arguments of a later launch with those it was made for. Where they
differ, the launch takes the slow path again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any, TypeGuard, cast

import numpy as np

from eas.backends import cpu_form, has_unit_strides
from eas.call_arguments import Specialized
from eas.compiler import CompiledKernel
from eas.ir.types import DType
from eas.runtime.argument_values import (
    Array,
    Number,
    is_array,
    is_eas_tensor,
    is_numpy_scalar,
    to_bound,
)
from eas.runtime.cpu.launch_plan import Layout, Plan, PlannedLaunch
from eas.runtime.cpu.torch_plan import TorchPlan, can_be_planned, slots_of
from eas.runtime.grid import (
    MAX_AXES,
    Grid,
    GridArguments,
    GridUse,
    Threads,
    is_int,
    resolve_grid,
)
from eas.runtime.refusals import BadArgument
from eas.runtime.torch_arguments import is_tensor
from eas.signature import Parameter, Parameters

MOST_PLANS = 16  # with one key: they differ in their runtime arguments only
MOST_KEYS = 1000

# Constants of these types are equal only if kernels are the same for them.
_PLAIN = frozenset([int, bool, str, DType, FunctionType, type(None), np.int32, np.int64])
_INT = frozenset([int])

Key = tuple[object, ...]
Build = tuple[Threads | None, bool]  # threads per program, and whether accesses are checked
Options = Mapping[str, Any]
Row = tuple[Any, ...]
Extents = tuple[int, int, int]
Plans = Sequence[tuple[CompiledKernel, Plan | TorchPlan]]


class FastPath:
    """The plans of one kernel, by what a launch says besides its grid and its runtime arguments."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self._constants = frozenset(p.name for p in parameters.all if p.is_constexpr)
        self._declared = frozenset(p.name for p in parameters.all if p.dtype is not None)
        self._plans: dict[Key | None, list[tuple[CompiledKernel, Plan | TorchPlan]]] = {}

    def run(self, build: Build, grid: Grid | None, args: Row, options: Options) -> bool:
        """Runs the kernel if a cached plan fits these arguments; else gives False."""
        found, row = self._find(build, grid, args, options)
        for compiled, plan in found:
            if compiled.is_current() and plan.run(row):
                return True
        arrays = _as_arrays(row) if found else row
        return arrays is not row and any(
            compiled.is_current() and plan.run(arrays) for compiled, plan in found
        )

    def read(
        self, build: Build, grid: Grid | None, args: Row, options: Options
    ) -> PlannedLaunch | None:
        """A launch that runs later; None if no cached plan fits."""
        found, row = self._find(build, grid, args, options)
        made = _read(found, row)
        arrays = _as_arrays(row) if made is None and found else row
        return made if arrays is row else _read(found, arrays)

    def _find(
        self, build: Build, grid: Grid | None, args: Row, options: Options
    ) -> tuple[Plans, Row]:
        """The plans that may fit a launch, and the row of its arguments."""
        key, row = self._key_and_row(build, args, options)
        found = self._plans.get(key, ())
        if not found:
            return found, row
        use = found[0][0].grid_use
        if grid is None and use.axes == 1:  # the plan knows `N` and `BLOCK`
            return found, row
        extents = self._extents(grid, args, options, use)
        return ((), row) if extents is None else (found, (*row, *extents))

    def add(
        self,
        build: Build,
        args: Row,
        options: Options,
        compiled: CompiledKernel,
        call: Specialized,
    ) -> None:
        """Caches a plan for launches like this one, if it can have one."""
        key, row = self._key_and_row(build, args, options)
        found = [each for each in self._plans.get(key, ()) if each[0].is_current()]
        if key is None or call.overlapping or len(found) == MOST_PLANS:
            return
        chosen = cpu_form(compiled, call.values, checks=build[1])
        plan = self._plan(self._names(args, options), row, chosen, call)
        if plan is None:
            return
        if len(self._plans) == MOST_KEYS:
            self._plans.clear()
        made = [(chosen, plan)]
        # a plan for any stride takes arrays of unit stride too, so it comes last
        is_general = not has_unit_strides(compiled, call.values)
        self._plans[key] = found + made if is_general else made + found

    def _key_and_row(self, build: Build, args: Row, options: Options) -> tuple[Key | None, Row]:
        """The cache key of a launch and the row of its arguments that the plan compares.

        The key is None if a constant has no cheap identity. The row has the arguments by position,
        with the constants among them, then the runtime arguments by name.
        """
        kinds = tuple(map(type, options.values()))  # `1` and `True` are equal, but not the same
        if _PLAIN.issuperset(kinds) and self._constants.issuperset(options):
            return (build, len(args), kinds, *options, *options.values()), args
        known = [_identity(value) for name, value in options.items() if name in self._constants]
        named = [value for name, value in options.items() if name not in self._constants]
        key = None if None in known else (build, len(args), *options, *known)
        return key, (*args, *named)

    def _names(self, args: Row, options: Options) -> list[str]:
        """The names of the arguments in the row of a launch."""
        named = [name for name in options if name not in self._constants]
        return [*self._parameters.by_position[: len(args)], *named]

    def _plan(
        self, names: list[str], row: Row, compiled: CompiledKernel, call: Specialized
    ) -> Plan | TorchPlan | None:
        tensors: dict[int, Array] = {
            n: cast(Array, call.values[name])
            for n, name in enumerate(names)
            if name in call.tensors
        }
        if not can_be_planned(tensors):
            return None
        plan = compiled.executable.plan(lambda: self._layout(names, row, compiled, call))
        if plan is None or not tensors:
            return plan
        same, uses = self._same(call), compiled.binding.uses
        owners = {n: same.get(names[n], names[n]) for n in tensors}
        written = frozenset(n for n, owner in owners.items() if uses[owner].is_written)
        return TorchPlan(plan, slots_of(tensors, written))

    def _layout(
        self, names: list[str], row: Row, compiled: CompiledKernel, call: Specialized
    ) -> Layout:
        """What a plan has to know of launches like this one."""
        use = compiled.grid_use
        block: Any = call.constants.get("BLOCK", use.block)
        is_line = use.axes == 1
        has_size = is_line and is_int(call.values.get("N")) and is_int(block) and block > 0
        return Layout(
            dict(zip(names, _as_arrays(row), strict=True)),
            self._same(call),
            self._declared,
            call.values,
            compiled.binding.uses,
            int(block) if has_size else 0,
            _tensor_type(row),
        )

    def _same(self, call: Specialized) -> dict[str, str]:
        """Which arrays are the same as an earlier one."""
        parts = zip(self._parameters.all, call.key, strict=True)
        arrays = {
            p.name: part for p, part in parts if isinstance(call.values.get(p.name), np.ndarray)
        }
        return {name: str(part[2]) for name, part in arrays.items() if part[2] is not None}

    def _extents(
        self, grid: Grid | None, args: Row, options: Options, use: GridUse
    ) -> Extents | None:
        """The grid; None if it is wrong, which the slow path reports."""
        if isinstance(grid, int) and type(grid) is int:  # not a bool
            return (grid, 1, 1) if grid >= 0 else None
        if type(grid) is tuple and _is_grid(cast(Row, grid)):
            return _padded(cast(tuple[int, ...], grid))
        try:
            bound = self._parameters.bind(args, options)
            known = {p.name: bound[p.name] for p in self._parameters.all if p.is_constexpr}
            scalars = {
                p.name: number
                for p in self._parameters.all
                if not p.is_constexpr and (number := _to_number(p, bound[p.name])) is not None
            }
            given = {name: value for name, value in bound.items() if name not in known}
            return _padded(resolve_grid(grid, GridArguments(known, scalars, given), use))
        except BadArgument:
            return None


def _read(plans: Plans, row: Row) -> PlannedLaunch | None:
    for compiled, plan in plans:
        made = plan.reading.read(row) if compiled.is_current() else None
        if made is not None:
            return made
    return None


def _identity(constant: object) -> object | None:
    """Equal for constants that make one kernel; None if finding out takes longer."""
    kind = type(constant)
    if kind in _PLAIN:
        return kind, constant
    if kind is float:
        return kind, constant or repr(constant)  # `0.0` and `-0.0` are equal
    is_shape = kind is tuple and _is_of_ints(cast(Row, constant))
    return (kind, constant) if is_shape else None


def _padded(grid: tuple[int, ...]) -> Extents:
    x, y, z = (*grid, 1, 1)[:3]
    return x, y, z


def _is_grid(values: tuple[object, ...]) -> bool:
    return 1 <= len(values) <= MAX_AXES and _is_of_ints(values) and min(values) >= 0


def _is_of_ints(values: tuple[object, ...]) -> TypeGuard[tuple[int, ...]]:
    return _INT.issuperset(map(type, values))


def _to_number(p: Parameter, argument: Any) -> object | None:
    """A scalar as the function that gives the grid sees it; None for an array."""
    if is_array(argument) or is_eas_tensor(argument) or is_tensor(argument):
        return None
    if type(argument) is int and (p.dtype is None or p.dtype.is_int):
        return argument
    value, _ = to_bound(argument, p.dtype)
    return value.item() if is_numpy_scalar(value) else None


def _as_arrays(row: Row) -> Row:
    """The row with tensors and the like as NumPy arrays; without any it is the very same.

    Tensors of torch have plans of their own.
    """
    foreign = {id(argument): argument for argument in row if _is_foreign(argument)}
    if not foreign:
        return row
    try:  # each once: an array that is passed twice is one array
        arrays = {key: to_bound(argument, None)[0] for key, argument in foreign.items()}
    except BadArgument:
        return row
    return tuple(arrays.get(id(argument), argument) for argument in row)


def _tensor_type(row: Row) -> type | None:
    """`eas.Tensor`, or the class that is derived from it; None if there are no tensors."""
    kinds: list[type] = [type(argument) for argument in row if is_eas_tensor(argument)]
    return kinds[0] if kinds else None


def _is_foreign(argument: object) -> bool:
    kind = type(argument)
    if kind is np.ndarray or isinstance(argument, Number | np.generic) or is_tensor(argument):
        return False
    if is_eas_tensor(argument):  # plans take these as they are
        return False
    return hasattr(kind, "__dlpack__") or hasattr(kind, "__array_interface__")
