"""Names for the sizes of tensors: `C[M,N] A[M,K] B[K,N]`.

The entry task may declare them with `shapes=`. Else they are found by a trial run of the logic on
small tensors: each tile's axes are axes of the tensor that it was cut from, and the primitives of
the leaves have letters for theirs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from itertools import count

from eas.septran.flat.affine import affine
from eas.septran.flat.ranges import Ranges, size
from eas.septran.logic.errors import LogicError
from eas.septran.logic.inner import read_inner
from eas.septran.logic.primitives import STANDARD
from eas.septran.logic.steps import Argument, Launch, Local, Step
from eas.septran.logic.tasks import Task
from eas.septran.logic.values import Tensor, whole
from eas.support.records import field, frozen, record

Axis = tuple[str, str, int]  # task, parameter or local tensor, axis
Names = dict[str, tuple[str, ...]]  # the names of each parameter's sizes

_TRIAL, _TILE = 64, 16
_DECLARED = re.compile(r"\s*(\w+)\s*\[([^\]]*)\]\s*")


def declared_names(task: Task) -> Names | None:
    """The names that a task's `shapes=` declares, if it does."""
    if not task.shapes:
        return None
    names: Names = {}
    end = 0
    while end < len(task.shapes):
        found = _DECLARED.match(task.shapes, end)
        name = "" if found is None else found[1]
        sizes = () if found is None else tuple(each.strip() for each in found[2].split(","))
        is_known = name in task.parameters and name not in names
        if found is None or not is_known or not all(each.isidentifier() for each in sizes):
            message = f"`{task.shapes}` declares no shapes of `{', '.join(task.parameters)}`"
            raise task.error("S803", message, task.loc, 'write `shapes="C[M,N] A[M,K] B[K,N]"`')
        names[name] = sizes
        end = found.end()
    return names


@frozen
class Dimensions:
    """The names of the sizes of all tensors below an entry task."""

    entry: Task
    search: _Search

    def names_of(self, task: Task, tensor: Tensor) -> tuple[str, ...]:
        """The names of the sizes of a tensor, or a tile of one, in one of the tasks."""
        kept = [axis for axis, extent in enumerate(tensor.extents) if extent is not None]
        return tuple(self.search.name((task.function_name, tensor.root, axis)) for axis in kept)

    def parameter(self, name: str, rank: int) -> tuple[str, ...]:
        """The names of the sizes of a parameter of the entry task."""
        axes = [(self.entry.function_name, name, axis) for axis in range(rank)]
        return tuple(self.search.name(axis) for axis in axes)


def find_dimensions(task: Task, ranks: Mapping[str, int]) -> Dimensions:
    """The names of sizes for an entry task whose tensors have these ranks."""
    search = _Search()
    for parameter, names in (declared_names(task) or {}).items():
        if len(names) != ranks.get(parameter):
            message = f"`{parameter}` has {ranks.get(parameter, 0)} axes, and {len(names)} names"
            raise task.error("S803", message, task.loc)
        axes = [(task.function_name, parameter, axis) for axis in range(len(names))]
        search.declare(axes, names)
    search.task(task, ranks)
    return Dimensions(task, search)


class _Trial:
    """Tunables of a trial run: all are there."""

    def tunable(self, name: str) -> int | None:
        return _TILE

    def names(self) -> tuple[str, ...]:
        return ()


@record
class _Search:
    """Axes that are known to be equal, as a forest of links, and the letters of some."""

    links: dict[Axis, Axis] = field(default_factory=dict[Axis, Axis])
    letters: dict[Axis, str] = field(default_factory=dict[Axis, str])
    given: dict[Axis, str] = field(default_factory=dict[Axis, str])
    seen: set[tuple[str, tuple[int, ...]]] = field(default_factory=set[tuple[str, tuple[int, ...]]])

    def root(self, axis: Axis) -> Axis:
        while axis in self.links:
            axis = self.links[axis]
        return axis

    def unite(self, a: Axis, b: Axis) -> None:
        first, second = self.root(a), self.root(b)
        if first == second:
            return
        if second in self.given and first not in self.given:
            first, second = second, first
        self.links[second] = first
        if second in self.letters:
            self.letters.setdefault(first, self.letters[second])

    def declare(self, axes: Sequence[Axis], names: Sequence[str]) -> None:
        """Axes of one name are equal, and have that name."""
        for axis, name in zip(axes, names, strict=True):
            same = next((root for root, given in self.given.items() if given == name), None)
            if same is not None:
                self.unite(same, axis)
            self.given[self.root(axis)] = name

    def name(self, axis: Axis) -> str:
        """The letter of an axis; other axes of that letter get a number."""
        root = self.root(axis)
        if root not in self.given:
            letter = self.letters.get(root, f"{axis[1].upper()}{axis[2]}")
            tries = (letter if n == 1 else f"{letter}{n}" for n in count(1))
            self.given[root] = next(each for each in tries if each not in self.given.values())
        return self.given[root]

    def task(self, task: Task, ranks: Mapping[str, int]) -> None:
        key = task.function_name, tuple(ranks.get(name, -1) for name in task.parameters)
        if key in self.seen:
            return
        self.seen.add(key)
        if task.is_leaf:
            self.leaf(task)
            return
        arguments: dict[str, Argument] = {
            name: whole(name, (size(_TRIAL),) * ranks[name]) if name in ranks else affine(1)
            for name in task.parameters
        }
        numbers = count()
        try:
            steps = read_inner(
                task,
                arguments,
                _Trial(),
                Ranges(),
                lambda name: f"{name}_{next(numbers)}",
                lambda tensor: ("",) * len(tensor.shape),
                dict.fromkeys(task.parameters, "f32"),
            )
        except LogicError:
            return  # the sizes are wrong for it; the true ones are read again, with errors
        self.steps(task, steps)

    def steps(self, task: Task, steps: tuple[Step, ...]) -> None:
        for step in steps:
            if isinstance(step, Launch):
                self.launch(task, step)
            elif not isinstance(step, Local):
                self.steps(task, step.body)

    def launch(self, task: Task, launch: Launch) -> None:
        callee = launch.task or task.variant(launch.callee)
        if callee is None or len(callee.parameters) != len(launch.arguments):
            return
        ranks: dict[str, int] = {}
        for parameter, argument in zip(callee.parameters, launch.arguments, strict=True):
            if isinstance(argument, Tensor):
                ranks[parameter] = len(argument.shape)
                kept = [n for n, extent in enumerate(argument.extents) if extent is not None]
                for axis, outer in enumerate(kept):
                    self.unite(
                        (task.function_name, argument.root, outer),
                        (callee.function_name, parameter, axis),
                    )
        self.task(callee, ranks)

    def leaf(self, task: Task) -> None:
        for node in ast.walk(task.source.node):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="call_primitive"),
                    args=[ast.Constant(value=str(name)), *operands],
                ) if name in STANDARD:
                    dims = [each.dims for each in STANDARD[name].parameters]
                    self.label(task, operands, dims)
                case ast.AugAssign(
                    target=ast.Subscript(value=ast.Name() as sum),
                    value=ast.BinOp(left=left, op=ast.MatMult(), right=right),
                ):
                    a = ("k", "m") if isinstance(left, ast.Attribute) else ("m", "k")
                    b = ("n", "k") if isinstance(right, ast.Attribute) else ("k", "n")
                    plain = [each.value if isinstance(each, ast.Attribute) else each
                             for each in (left, right)]  # fmt: skip
                    self.label(task, [sum, *plain], [("m", "n"), a, b])
                case _:
                    pass

    def label(self, task: Task, operands: list[ast.expr], dims: list[tuple[str, ...]]) -> None:
        first: dict[str, Axis] = {}
        for operand, letters in zip(operands, dims, strict=False):
            if not isinstance(operand, ast.Name):
                continue
            for number, letter in enumerate(letters):
                axis = (task.function_name, operand.id, number)
                if letter in first:
                    self.unite(first[letter], axis)
                first.setdefault(letter, axis)
                self.letters.setdefault(self.root(axis), letter.upper())
