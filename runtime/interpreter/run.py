"""Runs all programs of a grid, a chunk of them at a time.

The programs of a chunk run in lockstep, op by op; chunks run in the order of the grid. A fault
stops the launch at the op that has it; what was written or printed before remains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from operator import itemgetter

import numpy as np

from eas.ir.nodes import Alloc, Atomic, Function, Load, Store, Value, results_of, walk
from eas.ir.stages import CORE, Stage
from eas.ir.types import count
from eas.runtime.argument_values import ArrayArgument
from eas.runtime.interpreter.active_lanes import EVERYONE
from eas.runtime.interpreter.address_spaces import Memory, Shadows, device_memory
from eas.runtime.interpreter.budgets import Limits
from eas.runtime.interpreter.chunk import Chunk
from eas.runtime.interpreter.handlers import HANDLERS, WITHOUT_FAULTS
from eas.runtime.interpreter.liveness import Plan, make_plan
from eas.runtime.interpreter.programs import Programs
from eas.runtime.interpreter.shadow_memory import ShadowMemory
from eas.runtime.interpreter.wraps import with_exact_offsets

ScalarArgument = bool | int | float | np.generic
Argument = ArrayArgument | ScalarArgument


DEFAULT_LIMITS = Limits()
MOST_PLANS = 64


def run(
    function: Function,
    arguments: Sequence[Argument],
    grid: tuple[int, ...],
    *,
    limits: Limits = DEFAULT_LIMITS,
    program_output: Callable[[str], None] = print,
    stage: Stage = CORE,
) -> None:
    """Runs a verified function of any stage for every program of a grid of one to three axes.

    There is one argument per parameter. Raises `KernelError` for whatever the checks find.
    """
    if not 1 <= len(grid) <= 3 or any(extent < 0 for extent in grid):
        raise ValueError(f"a grid has one to three extents that are not negative, not {grid}")
    _keep_freed_memory()
    memories, values = _bind(function, arguments, prod(grid) > 1)
    integers = ((id, int(v[0])) for id, v in values.items() if v.dtype.kind in "biu")
    function, plan = _prepare(_Same(function), tuple(integers), grid, stage.has_faults)
    total, size = prod(grid), max(1, limits.elements // _widest(function))
    with np.errstate(all="ignore"):
        for first in range(0, total, size):
            programs = Programs(grid, first, min(size, total - first))
            chunk = Chunk(function, programs, plan, limits, dict(memories), dict(values))
            try:
                chunk.enter(function.body, (), EVERYONE)
            finally:
                for _, line in sorted(chunk.printed, key=itemgetter(0)):
                    program_output(line)


class _Same:
    """A function as a cache key, compared by identity."""

    def __init__(self, function: Function) -> None:
        self.function = function

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.function is self.function

    def __hash__(self) -> int:
        return hash(self.function.name)


@lru_cache(maxsize=MOST_PLANS)
def _prepare(
    same: _Same, integers: tuple[tuple[int, int], ...], grid: tuple[int, ...], has_faults: bool
) -> tuple[Function, Plan]:
    """The function with checks of offsets that may wrap in such a launch, and its plan."""
    function, exact = with_exact_offsets(same.function, dict(integers), grid)
    return function, make_plan(function.body, HANDLERS if has_faults else WITHOUT_FAULTS, exact)


def _keep_freed_memory() -> None:
    """Frees a large block: glibc then raises its threshold and does not return freed memory.

    Without this each temporary costs page faults, which take longer than the arithmetic.
    """
    np.empty(1 << 24, np.uint8)


def _bind(
    function: Function, arguments: Sequence[Argument], has_many_programs: bool
) -> tuple[dict[int, Memory], dict[int, np.ndarray]]:
    memories: dict[int, Memory] = {}
    values: dict[int, np.ndarray] = {}
    written = _written_arrays(function, arguments)
    for param, argument in zip(function.params, arguments, strict=True):
        ty = param.value.ty
        if isinstance(argument, ArrayArgument):
            is_constant = not any(np.may_share_memory(argument.flat, flat) for flat in written)
            shadows = _shadows(function, param.value, argument.flat.size, has_many_programs)
            memories[param.value.id] = device_memory(param.name, argument, is_constant, shadows)
        else:
            values[param.value.id] = np.array([argument], ty.dtype.numpy)
    return memories, values


def _shadows(
    function: Function, pointer: Value, size: int, has_many_programs: bool
) -> tuple[Shadows, ...]:
    """The shadow memories of an array; none if it is only read, or accessed by atomics only."""
    touching = [op for op in walk(function.body) if isinstance(op, Load | Store | Atomic)]
    kinds = {type(op) for op in touching if op.pointer == pointer}
    if kinds <= {Load} or kinds == {Atomic}:
        return ()
    levels = [False] * has_many_programs + [True] * (function.threads is not None)
    return tuple(
        Shadows(
            ShadowMemory(size),
            ShadowMemory(size) if Load in kinds else None,
            ShadowMemory(size) if Atomic in kinds else None,
            of_threads,
        )
        for of_threads in levels
    )


def _written_arrays(function: Function, arguments: Sequence[Argument]) -> list[np.ndarray]:
    """The storage of the arrays that the function stores to."""
    pointers = {op.pointer.id for op in walk(function.body) if isinstance(op, Store | Atomic)}
    return [
        argument.flat
        for param, argument in zip(function.params, arguments, strict=True)
        if isinstance(argument, ArrayArgument) and param.value.id in pointers
    ]


def _widest(function: Function) -> int:
    """How many elements the largest value or allocation of one program has."""
    sizes = [1]
    for op in walk(function.body):
        if isinstance(op, Alloc):
            sizes.append(op.size)
        sizes += [count(value.shape) for value in results_of(op)]
    return max(sizes)
