"""Short ways for launches that are like an earlier one: straight into the compiled code.

A launch goes the long way first, which checks everything. If it ran on the CPU, with the runtime
arguments by position and constexpr ones by name, a plan is kept for its like. The plan looks at
the arguments itself, and the launch goes the long way again where they are not as they were.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from eas.arguments import Specialised
from eas.compiler import CompiledKernel
from eas.config import Backend
from eas.ir.types import DType
from eas.runtime.grid import Grid
from eas.signature import Parameters

if TYPE_CHECKING:
    from eas.runtime.cpu.plan import Plan

_PLAIN = frozenset([int, bool, str, DType, FunctionType, type(None)])

_INT = frozenset([int])

Key = tuple[object, ...]


class Shortcuts:
    """The plans of one kernel, by what a launch says besides its runtime arguments."""

    def __init__(self) -> None:
        self._found: dict[Key, tuple[CompiledKernel, Plan]] = {}

    def take(self, key: Key, args: tuple[Any, ...]) -> bool:
        """Runs the kernel if there is a short way for these arguments."""
        found = self._found.get(key)
        if found is None:
            return False
        compiled, plan = found
        return compiled.is_current() and plan.call(*args) is None

    def keep(
        self,
        key: Key,
        compiled: CompiledKernel,
        call: Specialised,
        given: int,
        parameters: Parameters,
        grid: tuple[int, ...] | None,
    ) -> None:
        """Makes a short way for launches like this one, which `given` arguments by position."""
        names = [p.name for p in parameters.all[:given] if not p.is_constexpr]
        if len(names) != given or any(name not in call.values for name in names):
            return
        if len(call.values) != given or call.overlapping:
            return
        packed = compiled.for_arrays(call.values)
        if packed is not compiled.packed:
            return  # a plan is for arrays without gaps
        from eas.runtime.cpu.plan import Layout

        arrays = {n: a for n, a in call.values.items() if isinstance(a, np.ndarray)}
        layout = Layout(
            names,
            {name: array.ndim for name, array in arrays.items()},
            {name: array.itemsize for name, array in arrays.items()},
            frozenset(compiled.writes),
            _extents(grid),
            call.constants["BLOCK"] if grid is None else 0,
        )
        plan = packed.executable.plan(layout)
        if plan is not None:
            self._found[key] = compiled, plan


def key_of(
    backend: Backend, threads: int | None, grid: Grid | None, options: Mapping[str, Any]
) -> Key | None:
    """What tells launches apart besides the arguments by position; None if that is too much."""
    if backend != "cpu":
        return None
    kinds = tuple(map(type, options.values()))  # `1` and `True` are equal, but not the same
    if not _PLAIN.issuperset(kinds):
        return None
    if grid is not None and type(grid) is not int and not _is_of_ints(grid):
        return None
    return (threads, grid, kinds, *options, *options.values())


def _is_of_ints(grid: object) -> bool:
    return type(grid) is tuple and _INT.issuperset(map(type, cast(tuple[object, ...], grid)))


def _extents(grid: tuple[int, ...] | None) -> tuple[int, int, int]:
    x, y, z = (*(grid or ()), 1, 1, 1)[:3]
    return x, y, z
