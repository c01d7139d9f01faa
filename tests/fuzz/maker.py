"""The state of a program that is being made: choices, names, what code at a place may use."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import TypeVar

from tests.fuzz.types import FunctionOf, Kind, Numbers, TupleOf, Type

T = TypeVar("T")
Names = dict[str, Type]


@dataclass
class Place:
    """What code at a place may use and do.

    `names` have a value on every path to it. Those in `kept` must not be assigned: they count the
    trips of loops, or belong to an outer function. `trips` is how often the code may run.
    `breaks` and `continues` get the names at each exit from the innermost loop. `result` is what
    the function returns; a kernel returns nothing. `ended` says that the last statement was an
    exit.
    """

    names: Names
    kept: frozenset[str] = frozenset()
    trips: int = 1
    in_loop: bool = False
    result: Kind | None = None
    can_return: bool = True
    has_arrays: bool = True
    has_walrus: bool = True
    ended: bool = False
    breaks: list[Names] = field(default_factory=list[Names])
    continues: list[Names] = field(default_factory=list[Names])

    def of(self, ty: Type) -> list[str]:
        """The names with this type."""
        return [name for name, own in self.names.items() if own == ty]

    def assignable(self, ty: Type) -> list[str]:
        return [name for name in self.of(ty) if name not in self.kept]

    def tuples(self) -> list[tuple[str, TupleOf]]:
        return [(n, t) for n, t in self.names.items() if isinstance(t, TupleOf)]

    def functions(self, result: Kind) -> list[tuple[str, FunctionOf]]:
        """The functions to call; those that need the arrays only where there are some."""
        return [
            (name, ty)
            for name, ty in self.names.items()
            if isinstance(ty, FunctionOf)
            and ty.result is result
            and (self.has_arrays or not ty.context)
        ]

    def branch(self) -> Place:
        """The same place for one of several branches; the exits are shared."""
        return replace(self, names=dict(self.names))

    def loop_body(self, trips: int, kept: Sequence[str] = ()) -> Place:
        return replace(
            self,
            names=dict(self.names),
            kept=self.kept | set(kept),
            trips=self.trips * max(trips, 1),
            in_loop=True,
            breaks=[],
            continues=[],
        )


def meet(ways: Sequence[Names]) -> Names:
    """The names that have a value on each of several paths. Functions are not carried across."""
    first, *rest = ways
    return {
        name: ty
        for name, ty in first.items()
        if all(name in way and (way[name] is ty or way[name] == ty) for way in rest)
    }


@dataclass
class Maker:
    """Makes one program. `budget` is how many statements may still be written."""

    random: Random
    numbers: Numbers
    budget: int
    lines: list[str] = field(default_factory=list[str])
    indent: int = 0
    count: int = 0

    def below(self, n: int) -> int:
        """A number from 0 on; the less, the simpler the program."""
        return self.random.randrange(n) if n > 1 else 0

    def chance(self, one_in: int) -> bool:
        return self.below(one_in) == one_in - 1

    def pick(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[tuple[int, T]]) -> T:
        number = self.below(sum(weight for weight, _ in items))
        for weight, item in items:
            number -= weight
            if number < 0:
                return item
        raise AssertionError("the weights are positive")

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    @contextmanager
    def block(self, head: str) -> Generator[None]:
        self.line(head)
        self.indent += 1
        try:
            yield
        finally:
            self.indent -= 1

    def aside(self, write: Callable[[], None]) -> list[str]:
        """The lines that are written at the outermost level, taken out of the text."""
        before = self.lines, self.indent
        self.lines, self.indent = [], 0
        try:
            write()
            return self.lines
        finally:
            self.lines, self.indent = before
