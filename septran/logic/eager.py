"""Runs a task on NumPy arrays, as it is written: the reference for every mapping.

Loops run in order, tiles are slices of the arrays, and each leaf runs as statements of the flat IR.
A task is read once for arguments of the same shapes, dtypes and numbers. Reads of local tensors
that were never written are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, permutations, product
from typing import Any, TypeAlias

import numpy as np

from eas.ir.types import DTYPES, DType, from_numpy
from eas.septran.flat.affine import ZERO, Affine, affine
from eas.septran.flat.nodes import Alloc, Stmt, View, holds
from eas.septran.flat.ranges import Ranges
from eas.septran.flat.straight import Action, compile_straight
from eas.septran.logic.arguments import (
    check_count,
    check_ranks,
    check_tunables,
    dtype_of,
    sizes_of,
)
from eas.septran.logic.dimensions import (
    ENTRY,
    Dimensions,
    Site,
    declared_names,
    find_dimensions,
    site_of,
)
from eas.septran.logic.errors import LogicError
from eas.septran.logic.inner import read_inner
from eas.septran.logic.leaves import LeafArgument, LeafTensor, read_leaf
from eas.septran.logic.task_body import Argument, Branch, Launch, Local, Loop, Step
from eas.septran.logic.tasks import Task
from eas.septran.logic.uses import Use, check_entry, unwritten_local, uses_of_leaf
from eas.septran.logic.values import Tensor, whole
from eas.support.diagnostics import Diagnostic
from eas.support.location import Loc
from eas.support.records import field, frozen, record

Array: TypeAlias = np.ndarray[Any, Any]
Bound: TypeAlias = Array | int | float

Masks: TypeAlias = "Mapping[str, Mask]"
Key: TypeAlias = tuple[object, ...]

_MEMORY = "ARRAYS"
_DEFAULT = 16
_MOST_WORK = 10_000  # to decide whether two arrays have an element in common


@frozen
class _Tunables:
    given: Mapping[str, int]

    def tunable(self, name: str) -> int | None:
        is_block = name.startswith("block_size_")
        return self.given.get(name, None if is_block else _DEFAULT)

    def names(self) -> tuple[str, ...]:
        return tuple(self.given)

    def place(self, name: str) -> Loc | None:
        return None


def call_task(task: Task, arguments: Sequence[Any], tunables: Mapping[str, int]) -> None:
    """Runs a task for a user: tunables that it does not ask for are refused."""
    check_tunables(task, tunables)
    run_task(task, arguments, {name: int(value) for name, value in tunables.items()})


def run_task(task: Task, arguments: Sequence[Any], tunables: Mapping[str, int]) -> None:
    """Runs a task; arrays that it writes are changed in place. Tunables are 16 by default."""
    check_count(task, len(arguments))
    bound = dict(zip(task.parameters, arguments, strict=True))
    arrays = {name: each for name, each in bound.items() if not isinstance(each, int | float)}
    for name, array in arrays.items():
        dtype_of(task, name, array)
    shapes = {name: array.shape for name, array in arrays.items()}
    check_ranks(task, shapes, declared_names(task) or {})
    ranks = {name: len(shape) for name, shape in shapes.items()}
    dimensions = find_dimensions(task, ranks)
    sizes_of(task, shapes, dimensions.parameters(ranks))
    runner = _Runner(_Tunables(tunables), dimensions)
    runner.task(ENTRY, task, bound, {})
    if runner.writes_nothing(task) and (found := list(check_entry(task, {}))):
        raise LogicError(found)


@record
class _Runner:
    tunables: _Tunables
    dimensions: Dimensions
    numbers: count[int] = field(default_factory=count)
    leaves: dict[Key, _Leaf] = field(default_factory=dict["Key", "_Leaf"])
    inner: dict[tuple[Site, Key], tuple[Step, ...]] = field(
        default_factory=dict["tuple[Site, Key]", "tuple[Step, ...]"]
    )

    def fresh(self, name: str) -> str:
        return f"{name}_{next(self.numbers)}"

    def writes_nothing(self, task: Task) -> bool:
        """Whether the task that was called has no statement that writes an argument of it."""
        if task.is_leaf:
            uses = [use for leaf in self.leaves.values() for use in leaf.uses.values()]
            return not any(use.written for use in uses)
        return not any(self.inner.values()) and not task.has_branches

    def task(self, site: Site, task: Task, bound: Mapping[str, Bound], masks: Masks) -> None:
        key = _key(task, bound)
        if task.is_leaf:
            key = (*key, *_shared(bound))
            if key not in self.leaves:
                self.leaves[key] = _read_leaf(task, bound)
            self.leaves[key].run(bound, masks)
            return
        if (site, key) not in self.inner:
            self.inner[site, key] = self.read_inner(site, task, bound)
        self.steps(_Frame(site, task, dict(bound), dict(masks)), self.inner[site, key], {})

    def read_inner(self, site: Site, task: Task, bound: Mapping[str, Bound]) -> tuple[Step, ...]:
        arguments: dict[str, Argument] = {
            name: whole(name, tuple(map(affine, value.shape)))
            if isinstance(value, np.ndarray)
            else (affine(value) if isinstance(value, int) else value)
            for name, value in bound.items()
        }
        return tuple(
            read_inner(
                task,
                arguments,
                self.tunables,
                Ranges(),
                self.fresh,
                lambda tensor: self.dimensions.names_of(site, tensor),
                {n: _dtype(v).name for n, v in bound.items() if isinstance(v, np.ndarray)},
            )
        )

    def steps(self, frame: _Frame, steps: Sequence[Step], values: Mapping[str, int]) -> None:
        for step in steps:
            match step:
                case Local():
                    shape = tuple(extent.evaluate(values) for extent in step.shape)
                    dtype = DTYPES[step.dtype]
                    nothing = np.nan if dtype.is_float else 0
                    frame.bound[step.name] = np.full(shape, nothing, dtype.numpy)
                    frame.masks[step.name] = Mask(step, np.zeros(shape, bool))
                case Loop():
                    extents = [range(extent.evaluate(values)) for extent in step.extents]
                    for indices in product(*extents):
                        inner = dict(zip(step.variables, indices, strict=True))
                        self.steps(frame, step.body, {**values, **inner})
                case Branch():
                    left, right = step.left.evaluate(values), step.right.evaluate(values)
                    if holds(left, step.comparison, right):
                        self.steps(frame, step.body, values)
                case Launch():
                    self.launch(frame, step, values)

    def launch(self, frame: _Frame, step: Launch, values: Mapping[str, int]) -> None:
        callee = step.task or frame.task.variant(step.callee)
        assert callee is not None
        bound: dict[str, Bound] = {}
        masks: dict[str, Mask] = {}
        for name, argument in zip(callee.parameters, step.arguments, strict=True):
            bound[name] = _passed(argument, frame.bound, values, step.loc)
            if isinstance(argument, Tensor) and argument.root in frame.masks:
                mask = frame.masks[argument.root]
                masks[name] = Mask(mask.local, mask.is_written[_index(argument, values)])
        self.task(site_of(frame.site, step), callee, bound, masks)


@frozen(eq=False)
class Mask:
    """Which elements of a local tensor, or of a tile of it, are written."""

    local: Local
    is_written: Any


@frozen(eq=False)
class _Frame:
    """Where a step stands: its task, and what the task's names are bound to."""

    site: Site
    task: Task
    bound: dict[str, Bound]
    masks: dict[str, Mask]


def _passed(
    argument: Argument, bound: Mapping[str, Bound], values: Mapping[str, int], launched: Loc
) -> Bound:
    if isinstance(argument, Affine):
        return argument.evaluate(values)
    if not isinstance(argument, Tensor):
        return argument
    array = bound[argument.root]
    assert isinstance(array, np.ndarray)
    index = _index(argument, values)
    for place, extent in zip(index, array.shape, strict=False):
        if not isinstance(place, slice) and not 0 <= place < extent:
            message = f"index {place} of an axis of {extent} elements of `{argument.root}`"
            raise LogicError([Diagnostic("S807", message, launched)])
    return array[index]


def _index(tensor: Tensor, values: Mapping[str, int]) -> tuple[Any, ...]:
    """The index of a tile; it gives a view also where no axis is left."""
    index: list[Any] = []
    for offset, extent in zip(tensor.offsets, tensor.extents, strict=True):
        start = offset.evaluate(values)
        index.append(start if extent is None else slice(start, start + extent.evaluate(values)))
    return (*index, ...)


def _key(task: Task, bound: Mapping[str, Bound]) -> Key:
    """Equal for calls of a task that do the same with other elements."""
    return (
        id(task),
        *(
            (each.shape, each.dtype) if isinstance(each, np.ndarray) else (type(each), repr(each))
            for each in bound.values()
        ),
    )


def _shared(bound: Mapping[str, Bound]) -> Iterator[tuple[str, str]]:
    """The pairs of arguments that share elements."""
    arrays = [(name, each) for name, each in bound.items() if isinstance(each, np.ndarray)]
    for (first, a), (second, b) in permutations(arrays, 2):
        if np.may_share_memory(a, b) and _overlap(a, b):
            yield first, second


def _overlap(a: Array, b: Array) -> bool:
    try:
        return np.shares_memory(a, b, max_work=_MOST_WORK)  # pyright: ignore[reportArgumentType]
    except np.exceptions.TooHardError:
        return True


@frozen(eq=False)
class _Leaf:
    """A leaf for arguments of certain shapes, dtypes and numbers."""

    action: Action
    uses: Mapping[str, Use]

    def run(self, bound: Mapping[str, Bound], masks: Masks) -> None:
        if masks:
            self.check_written(masks)
        self.action({n: value for n, value in bound.items() if isinstance(value, np.ndarray)})

    def check_written(self, masks: Masks) -> None:
        """Raise an error if it reads what was never written (S304), and note what it writes."""
        uses = {name: use for name, use in self.uses.items() if name in masks}
        for name, use in uses.items():
            if use.read is not None and not np.all(masks[name].is_written):
                raise LogicError([unwritten_local(masks[name].local, use.read)])
        for name, use in uses.items():
            if use.covers:
                masks[name].is_written[...] = True


def _read_leaf(task: Task, bound: Mapping[str, Bound]) -> _Leaf:
    """A leaf as statements of the flat IR on slices of arrays."""
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

    aliases: dict[str, list[str]] = {}
    for first, second in _shared(bound):
        aliases.setdefault(first, []).append(second)
    body = read_leaf(task, arguments, make_temporary, aliases)
    tensors = {n: each for n, each in arguments.items() if isinstance(each, LeafTensor)}
    dtypes = {name: each.dtype for name, each in tensors.items()}
    action = compile_straight((*allocations, *body), dtypes)
    return _Leaf(action, uses_of_leaf({name: each.view for name, each in tensors.items()}, body))


def _view(name: str, shape: tuple[int, ...]) -> View:
    return View(name, _MEMORY, (ZERO,) * len(shape), tuple(map(affine, shape)))


def _dtype(array: Array) -> DType:
    dtype = from_numpy(array.dtype)
    assert dtype is not None  # checked when the task was called
    return dtype
