"""Names for the sizes of tensors: `C[M,N] A[M,K] B[K,N]`.

The entry task may declare them with `shapes=`, also as sums: `X[P+R-1]`. Else they are found by a
trial run of the logic on small tensors: each tile's axes are axes of the tensor that it was cut
from, and the primitives of the leaves have letters for theirs. A task that is launched at two sites
has axes for each of them: its tensors may have other shapes there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import count

from eas.ir.types import F32, DType
from eas.septran.flat.affine import Affine, affine
from eas.septran.flat.nodes import View
from eas.septran.flat.ranges import Ranges, size
from eas.septran.logic.errors import LogicError, suggest
from eas.septran.logic.inner import read_inner
from eas.septran.logic.leaf_values import LeafTensor
from eas.septran.logic.leaves import LeafArgument, read_leaf
from eas.septran.logic.primitives import STANDARD
from eas.septran.logic.size_names import (
    is_sum,
    names_in_size,
    normal_size,
    plain_names,
    split_default,
)
from eas.septran.logic.task_body import Argument, Launch, Local, Step
from eas.septran.logic.tasks import Task
from eas.septran.logic.values import Tensor, whole
from eas.support.diagnostics import Diagnostic
from eas.support.location import Loc
from eas.support.records import field, frozen, record, replace

Site = tuple[tuple[str, Loc], ...]  # the launches that lead to a task, from the entry task on
Axis = tuple[Site, str, int]  # site, parameter or local tensor, axis
Names = dict[str, tuple[str, ...]]  # the names of each parameter's sizes

ENTRY: Site = ()
_TRIAL, _TILE = 64, 16
_RANKS = (1, 2, 3, 4)
_MOST_SITES = 2000
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
        texts = [] if found is None else [split_default(each)[0] for each in found[2].split(",")]
        sizes = [normal_size(each) for each in texts]
        is_known = name in task.parameters and name not in names
        if found is None or not is_known or None in sizes:
            message = f"`{task.shapes}` declares no shapes of `{', '.join(task.parameters)}`"
            raise task.error("S803", message, task.loc, 'write `shapes="C[M,N] A[M,K] B[K,N]"`')
        names[name] = tuple(each for each in sizes if each is not None)
        end = found.end()
    _check_sums(task, names)
    return names


def _check_sums(task: Task, names: Names) -> None:
    """The names in a sum are those of axes: `P+R-1` needs an axis `P` and an axis `R`."""
    sizes = [each for several in names.values() for each in several]
    known = plain_names(sizes)
    for each in filter(is_sum, sizes):
        for name in names_in_size(each):
            if name not in known:
                message = f"`{each}` in `{task.shapes}`: no axis has the size `{name}`"
                raise task.error("S803", message, task.loc, *suggest(name, known))


def default_sizes(task: Task) -> dict[str, int]:
    """The sizes that `shapes=` gives a default, for where nobody says them: `W[R=3,S=3,C,O]`."""
    found: dict[str, int] = {}
    for match in _DECLARED.finditer(task.shapes):
        for name, value in map(split_default, match[2].split(",")):
            if value is not None:
                found.setdefault(name, value)
    return found


def site_of(site: Site, launch: Launch) -> Site:
    """The site of a launch in a task that itself runs at a site.

    A task that launches itself is at one site, however often it does.
    """
    names = [name for name, _ in site]
    if launch.callee in names:
        return site[: names.index(launch.callee) + 1]
    return (*site, (launch.callee, launch.loc))


@frozen
class Dimensions:
    """The names of the sizes of all tensors below an entry task."""

    search: _Search

    def names_of(self, site: Site, tensor: Tensor) -> tuple[str, ...]:
        """The names of the sizes of a tensor, or a tile of one, in the task at a site."""
        kept = [axis for axis, extent in enumerate(tensor.extents) if extent is not None]
        return tuple(self.search.name((site, tensor.root, axis)) for axis in kept)

    def parameters(self, ranks: Mapping[str, int]) -> Names:
        """The names of the sizes of the entry task's parameters, which have these ranks."""
        return {
            name: tuple(self.search.name((ENTRY, name, axis)) for axis in range(rank))
            for name, rank in ranks.items()
        }


def find_dimensions(task: Task, ranks: Mapping[str, int]) -> Dimensions:
    """The names of sizes for an entry task whose tensors have these ranks.

    The trial run is made once. Names that are given later are those of the result alone.
    """
    search = _searched(task, tuple(ranks.items()))
    return Dimensions(replace(search, given=dict(search.given)))


@lru_cache(maxsize=64)
def _searched(task: Task, known: tuple[tuple[str, int], ...]) -> _Search:
    ranks = dict(known)
    search = _Search()
    for parameter, names in (declared_names(task) or {}).items():
        if len(names) != ranks.get(parameter):
            message = f"`{parameter}` has {ranks.get(parameter, 0)} axes, and {len(names)} names"
            raise task.error("S803", message, task.loc)
        search.declare([(ENTRY, parameter, axis) for axis in range(len(names))], names)
    search.task(ENTRY, task, ranks)
    return search


def fitting_ranks(task: Task, known: Mapping[str, int]) -> dict[str, int]:
    """The ranks of an entry task's tensors: those that are `known`, and else ones that fit.

    A tensor of which nothing is known is a matrix, unless the logic is seen to use another one.
    """
    free = [name for name in task.parameters if name not in known]
    ranks = {**dict.fromkeys(free, 2), **known}
    if not free:
        return ranks
    found = _how_well(task, ranks)
    while found[1]:
        tries = [{**ranks, name: rank} for name in free for rank in _RANKS]
        scores = [_how_well(task, each) for each in tries]
        if max(scores) <= found:
            break
        found = max(scores)
        ranks = tries[scores.index(found)]
    return ranks


def _how_well(task: Task, ranks: Mapping[str, int]) -> tuple[int, int, int, int]:
    """How far some ranks fit: the greater, the better.

    It is how many tasks can be read, the negative number of mistakes in the others, and the place
    of the first of them: of several mistakes in a statement only one is found.
    """
    search = _Search(reads_leaves=True)
    search.task(ENTRY, task, ranks)
    first = search.mistakes[0].loc if search.mistakes else task.loc
    return search.read, -len(search.mistakes), first.line, first.column


class _Trial:
    """Tunables of a trial run: all are there."""

    def tunable(self, name: str) -> int | None:
        return _TILE

    def names(self) -> tuple[str, ...]:
        return ()

    def place(self, name: str) -> Loc | None:
        return None


@record
class _Search:
    """Axes that are known to be equal, as a forest of links, and the letters of some."""

    links: dict[Axis, Axis] = field(default_factory=dict[Axis, Axis])
    letters: dict[Axis, str] = field(default_factory=dict[Axis, str])
    given: dict[Axis, str] = field(default_factory=dict[Axis, str])
    seen: set[tuple[Site, tuple[int, ...]]] = field(
        default_factory=set[tuple[Site, tuple[int, ...]]]
    )
    reads_leaves: bool = False
    read: int = 0  # tasks without mistakes
    mistakes: list[Diagnostic] = field(default_factory=list[Diagnostic])

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

    def task(self, site: Site, task: Task, ranks: Mapping[str, int]) -> None:
        key = site, tuple(ranks.get(name, -1) for name in task.parameters)
        if key in self.seen or len(self.seen) > _MOST_SITES:
            return
        self.seen.add(key)
        if task.is_leaf:
            self.leaf(site, task)
            if self.reads_leaves:
                self.try_leaf(task, ranks)
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
        except LogicError as error:
            self.mistakes += error.diagnostics
            return  # the sizes are wrong for it; the true ones are read again, with errors
        self.read += 1
        self.steps(site, task, steps)

    def try_leaf(self, task: Task, ranks: Mapping[str, int]) -> None:
        """Count a leaf, or its mistakes, for tiles that are as long along each axis."""

        def make(name: str, shape: tuple[Affine, ...], dtype: DType, loc: Loc) -> View:
            return View(name, "", (affine(0),) * len(shape), shape)

        sizes = {name: (affine(_TILE),) * rank for name, rank in ranks.items()}
        arguments: dict[str, LeafArgument] = {
            name: LeafTensor(make(name, sizes[name], F32, task.loc), F32)
            if name in ranks
            else affine(1)
            for name in task.parameters
        }
        try:
            read_leaf(task, arguments, make)
            self.read += 1
        except LogicError as error:
            self.mistakes += error.diagnostics

    def steps(self, site: Site, task: Task, steps: tuple[Step, ...]) -> None:
        for step in steps:
            if isinstance(step, Launch):
                self.launch(site, task, step)
            elif not isinstance(step, Local):
                self.steps(site, task, step.body)

    def launch(self, site: Site, task: Task, launch: Launch) -> None:
        callee = launch.task or task.variant(launch.callee)
        if callee is None or len(callee.parameters) != len(launch.arguments):
            return
        inner = site_of(site, launch)
        ranks: dict[str, int] = {}
        for parameter, argument in zip(callee.parameters, launch.arguments, strict=True):
            if isinstance(argument, Tensor):
                ranks[parameter] = len(argument.shape)
                kept = [n for n, extent in enumerate(argument.extents) if extent is not None]
                for axis, outer in enumerate(kept):
                    self.unite((site, argument.root, outer), (inner, parameter, axis))
        self.task(inner, callee, ranks)

    def leaf(self, site: Site, task: Task) -> None:
        for node in ast.walk(task.source.node):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="call_primitive"),
                    args=[ast.Constant(value=str(name)), *operands],
                ) if name in STANDARD:
                    dims = [each.dims for each in STANDARD[name].parameters]
                    self.label(site, operands, dims)
                case ast.AugAssign(
                    target=ast.Subscript(value=ast.Name() as sum),
                    value=ast.BinOp(left=left, op=ast.MatMult(), right=right),
                ):
                    a = ("k", "m") if isinstance(left, ast.Attribute) else ("m", "k")
                    b = ("n", "k") if isinstance(right, ast.Attribute) else ("k", "n")
                    plain = [each.value if isinstance(each, ast.Attribute) else each
                             for each in (left, right)]  # fmt: skip
                    self.label(site, [sum, *plain], [("m", "n"), a, b])
                case _:
                    pass

    def label(self, site: Site, operands: list[ast.expr], dims: list[tuple[str, ...]]) -> None:
        first: dict[str, Axis] = {}
        for operand, letters in zip(operands, dims, strict=False):
            if not isinstance(operand, ast.Name):
                continue
            for number, letter in enumerate(letters):
                axis = (site, operand.id, number)
                if letter in first:
                    self.unite(first[letter], axis)
                first.setdefault(letter, axis)
                self.letters.setdefault(self.root(axis), letter.upper())
