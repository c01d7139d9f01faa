"""Pieces of MSL: expressions that know their precedence, and a writer of indented lines."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from enum import IntEnum

from eas.support.records import field, frozen, record

INDENT = "    "
COMMENT_COLUMN = 60
MAX_WIDTH = 100


class Level(IntEnum):
    """The precedence levels of C++."""

    TERNARY = 1
    LOGICAL_OR = 2
    LOGICAL_AND = 3
    BIT_OR = 4
    BIT_XOR = 5
    BIT_AND = 6
    EQUALITY = 7
    RELATIONAL = 8
    SHIFT = 9
    SUM = 10
    PRODUCT = 11
    UNARY = 12
    PRIMARY = 13


@frozen
class Text:
    """An expression.

    `bare` is its spelling where C++ converts it implicitly (`3` for `short(3)`), `negation` the
    spelling of its negation, of the same level, if that is simpler than with `!`.
    """

    text: str
    level: Level = Level.PRIMARY
    bare: str = ""
    negation: str = ""

    def at(self, level: Level) -> str:
        """The expression as an operand, in parentheses if its precedence is lower."""
        return self.text if self.level >= level else f"({self.text})"

    @property
    def promoted(self) -> Text:
        return Text(self.bare) if self.bare else self


def call(name: str, *arguments: Text | str) -> Text:
    parts = [a.text if isinstance(a, Text) else a for a in arguments]
    return Text(f"{name}({', '.join(parts)})")


def subscript(name: str, index: Text | str) -> Text:
    return Text(f"{name}[{index.text if isinstance(index, Text) else index}]")


def prefix(operator: str, operand: Text) -> Text:
    inner = operand.at(Level.UNARY)
    return Text(
        f"{operator}({inner})" if inner.startswith(operator) else operator + inner, Level.UNARY
    )


_TIGHTER = {level: Level(min(level + 1, Level.PRIMARY)) for level in Level}

# Clang warns about missing parentheses in these combinations, although they are unambiguous.
_MIXED = {
    Level.LOGICAL_OR: {Level.LOGICAL_AND},
    Level.BIT_OR: {Level.BIT_AND, Level.BIT_XOR, Level.SHIFT, Level.SUM, Level.PRODUCT},
    Level.BIT_XOR: {Level.BIT_AND, Level.SHIFT, Level.SUM, Level.PRODUCT},
    Level.BIT_AND: {Level.SHIFT, Level.SUM, Level.PRODUCT},
    Level.SHIFT: {Level.SUM, Level.PRODUCT},
}


_NEGATIVE = re.compile(r"-\d")  # the literal of a number below zero


def infix(operator: str, left: Text, right: Text, level: Level, associative: bool = False) -> Text:
    """`left operator right`; the right side of an associative operator needs no parentheses."""
    a = left.at(level)
    b = right.at(level if associative else _TIGHTER[level])
    if level in _MIXED:
        a = f"({left.text})" if left.level in _MIXED[level] else a
        b = f"({right.text})" if right.level in _MIXED[level] else b
    if operator == "+" and right.level is Level.UNARY and _NEGATIVE.match(right.text):
        return Text(f"{a} - {b[1:]}", level)
    return Text(f"{a} {operator} {b}", level)


def ternary(condition: Text, then: Text, orelse: Text) -> Text:
    test = condition.at(Level.LOGICAL_OR)
    return Text(f"{test} ? {then.at(Level.LOGICAL_OR)} : {orelse.at(Level.TERNARY)}", Level.TERNARY)


_BREAKS = re.compile(r", | \? | : | \|\| | && | \+ | - | \* | / ")
_TIGHTNESS = {",": 0, "?": 1, ":": 1, "||": 2, "&&": 3, "+": 4, "-": 4, "*": 5, "/": 5}


def broken(text: str, width: int) -> list[str]:
    """A line as several that are not too wide, broken at the operators of lowest precedence."""
    parts: list[str] = []
    while len(text) > width:
        found = [m for m in _BREAKS.finditer(text) if width // 3 < m.start() <= width - 3]
        if not found:
            break
        best = min(reversed(found), key=lambda m: (_depth(text, m), _TIGHTNESS[m.group().strip()]))
        place = best.start() if best.group() in (" ? ", " : ") else best.end()
        parts.append(text[:place].rstrip())
        text = text[place:].lstrip()
        width -= len(INDENT) if len(parts) == 1 else 0
    return [*parts, text]


def _depth(text: str, place: re.Match[str]) -> int:
    before = text[: place.start()]
    return sum(before.count(c) for c in "([") - sum(before.count(c) for c in ")]")


@record
class Writer:
    """Lines of text, indented by the blocks around them, with comments in one column."""

    lines: list[str] = field(default_factory=list[str])
    depth: int = 0

    def line(self, text: str = "", comment: str = "") -> None:
        """A line, broken if it is too long; the comment stands beside the first part."""
        parts = broken(text, MAX_WIDTH - len(INDENT) * self.depth)
        for number, part in enumerate(parts):
            line = INDENT * (self.depth + min(number, 1)) + part if part else ""
            if comment and number == 0:
                line = f"{line:<{COMMENT_COLUMN - 1}} // {comment}"
            self.lines.append(line)

    def add(self, lines: Iterable[str]) -> None:
        """Adds lines as they are."""
        self.lines += lines

    @contextmanager
    def block(self, head: str, comment: str = "", tail: str = "}") -> Generator[None]:
        """Lines between `head {` and `tail`."""
        self.line(f"{head} {{" if head else "{", comment)
        self.depth += 1
        yield
        self.depth -= 1
        self.line(tail)

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"
