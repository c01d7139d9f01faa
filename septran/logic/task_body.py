"""What an inner task does, as data: loops, branches, launches, local tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from eas.septran.flat.affine import Affine
from eas.septran.flat.nodes import Comparison
from eas.septran.logic.tasks import Task
from eas.septran.logic.values import Tensor
from eas.support.location import Loc
from eas.support.records import frozen

Argument: TypeAlias = Tensor | Affine | float


@frozen
class Local:
    """A tensor that lives as long as the task runs, with nothing in it at first.

    `label` is what the logic calls it; `name` is that of no other one.
    """

    name: str
    label: str
    shape: tuple[Affine, ...]
    dtype: str
    loc: Loc


@frozen(eq=False)
class Launch:
    """A task on some arguments. `callee` is what the logic calls it; tasks of it are variants."""

    callee: str
    task: Task | None
    arguments: tuple[Argument, ...]
    loc: Loc


@frozen(eq=False)
class Loop:
    """`reduced` are tensors that iterations of a parallel loop may all add to.

    A loop over a stream of tiles `is_implicit`: the launch is its only text.
    """

    kind: Literal["parallel", "sequential"]
    variables: tuple[str, ...]
    extents: tuple[Affine, ...]
    body: tuple[Step, ...]
    loc: Loc
    reduced: tuple[str, ...] = ()
    is_implicit: bool = False


@frozen(eq=False)
class Branch:
    """Steps under a condition on loop variables."""

    left: Affine
    comparison: Comparison
    right: Affine
    body: tuple[Step, ...]
    loc: Loc


Step: TypeAlias = Local | Launch | Loop | Branch


def launches_of(steps: Iterable[Step], root: str) -> Iterator[Launch]:
    """The launches that are given a tensor, or a tile of it."""
    for step in steps:
        if isinstance(step, Launch):
            if any(isinstance(each, Tensor) and each.root == root for each in step.arguments):
                yield step
        elif not isinstance(step, Local):
            yield from launches_of(step.body, root)
