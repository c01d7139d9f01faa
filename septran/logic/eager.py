"""Runs a task on NumPy arrays, as it is written: the reference for every mapping.

Loops run in order, tiles are slices of the arrays, and each leaf is computed by the interpreter of
the flat IR, which also finds reads of what was never written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count, product
from typing import Any, TypeAlias

import numpy as np

from eas.ir.types import DTYPES, DType, from_numpy
from eas.septran.flat.affine import ZERO, Affine, affine
from eas.septran.flat.interpret import run_module
from eas.septran.flat.nodes import Alloc, Kernel, Module, Param, Stmt, View, holds
from eas.septran.flat.ranges import Ranges
from eas.septran.logic.dimensions import Dimensions, find_dimensions
from eas.septran.logic.inner import read_inner
from eas.septran.logic.leaves import LeafArgument, LeafTensor, read_leaf
from eas.septran.logic.steps import Argument, Branch, Launch, Local, Loop, Step
from eas.septran.logic.tasks import Task
from eas.septran.logic.values import Tensor, whole
from eas.support.location import Loc
from eas.support.records import field, frozen, record

Array: TypeAlias = np.ndarray[Any, Any]
Bound: TypeAlias = Array | int | float

_MEMORY = "ARRAYS"
_DEFAULT = 16


@frozen
class _Tunables:
    given: Mapping[str, int]

    def tunable(self, name: str) -> int | None:
        is_block = name.startswith("block_size_")
        return self.given.get(name, None if is_block else _DEFAULT)

    def names(self) -> tuple[str, ...]:
        return tuple(self.given)


def run_task(task: Task, arguments: Sequence[Any], tunables: Mapping[str, int]) -> None:
    """Runs a task; arrays that it writes are changed in place. Tunables are 16 by default."""
    if len(arguments) != len(task.parameters):
        message = f"`{task.function_name}` takes {', '.join(task.parameters)}"
        raise TypeError(f"{message}: {len(arguments)} arguments are given")
    ranks = {
        name: argument.ndim
        for name, argument in zip(task.parameters, arguments, strict=True)
        if isinstance(argument, np.ndarray)
    }
    runner = _Runner(_Tunables(tunables), find_dimensions(task, ranks))
    runner.task(task, dict(zip(task.parameters, arguments, strict=True)))


@record
class _Runner:
    tunables: _Tunables
    dimensions: Dimensions
    numbers: count[int] = field(default_factory=count)

    def fresh(self, name: str) -> str:
        return f"{name}_{next(self.numbers)}"

    def task(self, task: Task, bound: Mapping[str, Bound]) -> None:
        if task.is_leaf:
            _run_leaf(task, bound)
            return
        arguments: dict[str, Argument] = {
            name: whole(name, tuple(map(affine, value.shape)))
            if isinstance(value, np.ndarray)
            else (affine(value) if isinstance(value, int) else value)
            for name, value in bound.items()
        }
        steps = read_inner(
            task,
            arguments,
            self.tunables,
            Ranges(),
            self.fresh,
            lambda tensor: self.dimensions.names_of(task, tensor),
            {n: _dtype(v).name for n, v in bound.items() if isinstance(v, np.ndarray)},
        )
        self.steps(task, steps, dict(bound), {})

    def steps(
        self,
        task: Task,
        steps: Sequence[Step],
        bound: dict[str, Bound],
        values: Mapping[str, int],
    ) -> None:
        for step in steps:
            match step:
                case Local():
                    shape = tuple(extent.evaluate(values) for extent in step.shape)
                    bound[step.name] = np.full(shape, np.nan, DTYPES[step.dtype].numpy)
                case Loop():
                    extents = [range(extent.evaluate(values)) for extent in step.extents]
                    for indices in product(*extents):
                        inner = dict(zip(step.variables, indices, strict=True))
                        self.steps(task, step.body, bound, {**values, **inner})
                case Branch():
                    left, right = step.left.evaluate(values), step.right.evaluate(values)
                    if holds(left, step.comparison, right):
                        self.steps(task, step.body, bound, values)
                case Launch():
                    self.launch(task, step, bound, values)

    def launch(
        self, task: Task, step: Launch, bound: Mapping[str, Bound], values: Mapping[str, int]
    ) -> None:
        callee = step.task or task.variant(step.callee)
        assert callee is not None
        passed = [_passed(each, bound, values) for each in step.arguments]
        self.task(callee, dict(zip(callee.parameters, passed, strict=True)))


def _passed(argument: Argument, bound: Mapping[str, Bound], values: Mapping[str, int]) -> Bound:
    if isinstance(argument, Affine):
        return argument.evaluate(values)
    if not isinstance(argument, Tensor):
        return argument
    array = bound[argument.root]
    assert isinstance(array, np.ndarray)
    index: list[int | slice] = []
    for offset, extent in zip(argument.offsets, argument.extents, strict=True):
        start = offset.evaluate(values)
        index.append(start if extent is None else slice(start, start + extent.evaluate(values)))
    return array[tuple(index)]


def _run_leaf(task: Task, bound: Mapping[str, Bound]) -> None:
    """A leaf on slices of arrays, as a kernel of the flat IR."""
    arguments: dict[str, LeafArgument] = {}
    for name, value in bound.items():
        if isinstance(value, np.ndarray):
            arguments[name] = LeafTensor(_view(name, value.shape), _dtype(value))
        else:
            arguments[name] = affine(value) if isinstance(value, int) else value
    allocations: list[Stmt] = []

    def make_temporary(name: str, shape: tuple[Affine, ...], dtype: DType, loc: Loc) -> View:
        unique = f"{name}_{len(allocations)}_"
        sizes = tuple(extent.value for extent in shape)
        allocations.append(Alloc(unique, dtype, sizes, _MEMORY))
        return _view(unique, sizes)

    body = read_leaf(task, arguments, make_temporary)
    arrays = {name: value for name, value in bound.items() if isinstance(value, np.ndarray)}
    params = tuple(
        Param(name, _dtype(array), tuple(map(affine, array.shape)), _MEMORY, "rw")
        for name, array in arrays.items()
    )
    kernel = Kernel(task.function_name, params, (), 1, (*allocations, *body))
    run_module(Module(task.function_name, "numpy", params, (), (kernel,)), list(arrays.values()))


def _view(name: str, shape: tuple[int, ...]) -> View:
    return View(name, _MEMORY, (ZERO,) * len(shape), tuple(map(affine, shape)))


def _dtype(array: Array) -> DType:
    dtype = from_numpy(array.dtype)
    if dtype is None:
        raise TypeError(f"an array of {array.dtype} is nothing that a task can compute with")
    return dtype
