"""Reads tokens one by one: what the parsers of all text forms have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


class AnyToken(Protocol):
    """A piece of a text, and what it is."""

    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...


Tok = TypeVar("Tok", bound=AnyToken)


class TokenReader(ABC, Generic[Tok]):
    """The tokens of a text, and the next one; a parser has a method for each line of its grammar.

    `one_of` finds names among the kinds in `choices`.
    """

    tokens: list[Tok]
    next: int
    choices: tuple[str, ...]

    @abstractmethod
    def error(self, expected: str) -> Exception:
        """That something else was expected than what is next."""

    @abstractmethod
    def string(self, expected: str) -> str:
        """The text inside of the quotes that are next."""

    @property
    def token(self) -> Tok:
        return self.tokens[self.next]

    def is_next(self, text: str) -> bool:
        return self.token.text == text and self.token.kind in ("word", "mark")

    def accept(self, text: str) -> bool:
        """Takes a word or mark if it is next."""
        if not self.is_next(text):
            return False
        self.next += 1
        return True

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.error(f"`{text}`")

    def take(self, kind: str, expected: str) -> Tok:
        if self.token.kind != kind:
            raise self.error(expected)
        self.next += 1
        return self.tokens[self.next - 1]

    def end_line(self) -> None:
        self.take("newline", "the end of the line")
        self.skip_lines()

    def skip_lines(self) -> None:
        while self.token.kind == "newline":
            self.next += 1

    def one_of(self, names: Mapping[str, T], expected: str) -> T:
        if self.token.kind not in self.choices or self.token.text not in names:
            raise self.error(expected)
        self.next += 1
        return names[self.tokens[self.next - 1].text]

    def name(self, expected: str) -> str:
        if self.token.kind == "string":
            return self.string(expected)
        return self.take("word", expected).text

    def listed(self, item: Callable[[], T], end: str) -> tuple[T, ...]:
        """Items with commas between them, up to the mark `end`, which is taken."""
        items: list[T] = []
        while not self.accept(end):
            items.append(item())
            if not self.accept(","):
                self.expect(end)
                break
        return tuple(items)
