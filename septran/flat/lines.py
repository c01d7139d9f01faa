"""A text that is written line by line, with indentation."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager


class Lines:
    """The lines so far, and how deep the next one stands."""

    def __init__(self, indentation: str) -> None:
        self._indentation = indentation
        self._lines: list[str] = []
        self._depth = 0

    def add(self, text: str) -> None:
        self._lines.append(self._indentation * self._depth + text if text else "")

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    def insert(self, position: int, texts: Sequence[str]) -> None:
        """Adds lines before the one at a position, as deep as the next one would stand."""
        self._lines[position:position] = [self._indentation * self._depth + each for each in texts]

    @contextmanager
    def block(self, head: str, end: str = "") -> Generator[None]:
        """A head, what is written inside of the `with`, and an end if there is one."""
        self.add(head)
        self._depth += 1
        yield
        self._depth -= 1
        if end:
            self.add(end)

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"
