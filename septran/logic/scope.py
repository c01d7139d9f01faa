"""Where an expression of an inner task stands: its variables, and what is known there."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from eas.septran.flat.affine import Affine, affine
from eas.septran.flat.nodes import Comparison
from eas.septran.flat.ranges import Ranges, known
from eas.septran.logic.errors import LogicError, words
from eas.septran.logic.tasks import Task
from eas.septran.logic.values import Partition, Stream, Tensor
from eas.support.diagnostics import Diagnostic
from eas.support.location import Loc
from eas.support.records import frozen

Value: TypeAlias = Any  # a number, text, tuple, tensor, partition, stream, task, module, function
Values: TypeAlias = tuple[Any, ...]


@frozen
class Condition:
    """A comparison that depends on loop variables."""

    left: Affine
    comparison: Comparison
    right: Affine


class Tunables(Protocol):
    """Where tunables come from: a mapping, or the arguments of an eager run."""

    def tunable(self, name: str) -> int | None: ...

    def names(self) -> tuple[str, ...]: ...

    def place(self, name: str) -> Loc | None:
        """Where a mapping gives one its value, or should; None if there is no mapping."""
        ...


@frozen(eq=False, slots=False)
class Scope:
    """A task's variables, and what is known where an expression stands.

    `block_sizes` gives the tile of a partition that has none of its own, from the tunables that
    name its sizes. `dtypes` has the dtype of each parameter and local tensor, `lower` gives the
    value of an expression.
    """

    task: Task
    variables: dict[str, Value]
    tunables: Tunables
    ranges: Ranges
    block_sizes: Callable[[Tensor], tuple[str, ...]]
    dtypes: dict[str, str]
    lower: Callable[[Scope, ast.expr], Value]

    def value(self, node: ast.expr) -> Value:
        return self.lower(self, node)

    def number(self, node: ast.expr) -> Affine:
        """An integer, known now or a sum of loop variables."""
        value = self.value(node)
        if isinstance(value, Affine):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return affine(value)
        raise self.error("S804", node, f"`{words(node)}` is {kind_of(value)}, not an integer")

    def constant(self, node: ast.expr) -> int:
        """An integer that is known now."""
        number = known(self.number(node))
        if number is None:
            message = f"`{words(node)}` depends on a loop variable or a ragged tile"
            raise self.error("S804", node, message)
        return number

    def tensor(self, node: ast.expr) -> Tensor:
        value = self.value(node)
        if not isinstance(value, Tensor):
            raise self.error("S804", node, f"`{words(node)}` is {kind_of(value)}, not a tensor")
        return value

    def text(self, node: ast.expr) -> str:
        value = self.value(node)
        if not isinstance(value, str):
            raise self.error("S804", node, f"`{words(node)}` is {kind_of(value)}, not a text")
        return value

    def error(self, code: str, node: ast.AST, message: str, *help: str) -> LogicError:
        loc = self.task.source.loc(node)
        return LogicError([Diagnostic(code, message, loc, help=tuple(help))])


def kind_of(value: Value) -> str:
    shown: Any = value
    match value:
        case Tensor():
            return "a tensor"
        case Partition():
            return "a partition"
        case Stream():
            return "a stream of tiles"
        case Task():
            return "a task"
        case Condition():
            return "a condition on loop variables"
        case bool() | int() | float() | str() | tuple():
            return f"{type(shown).__name__} {shown!r}"[:60]
        case _:
            return f"a {type(value).__name__}"
