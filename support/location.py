"""Where in the user's Python an op or an error comes from."""

from __future__ import annotations

import linecache
from collections.abc import Sequence

from eas.support.records import field, frozen


@frozen
class SourceName:
    """A source file: `name` is printed (the same on every machine), `path` finds the file.

    `text` are its lines as they were compiled; the file may be edited since.
    """

    name: str
    path: str = field(default="", compare=False)
    text: Sequence[str] | None = field(default=None, compare=False)

    @property
    def lines(self) -> Sequence[str]:
        return linecache.getlines(self.path or self.name) if self.text is None else self.text

    def line(self, number: int) -> str:
        """A line, counted from 1; empty if there is none."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else ""

    def __repr__(self) -> str:
        return f"SourceName({self.name!r}, {self.path!r})"


@frozen
class Loc:
    """A range of characters in a source file, and the call that inlined it, if any.

    Lines count from 1, columns from 0, `end_column` is exclusive: as in `ast`, but in characters
    instead of UTF-8 bytes.
    """

    source: SourceName
    line: int
    column: int
    end_line: int
    end_column: int
    caller: Loc | None = None

    @property
    def chain(self) -> tuple[Loc, ...]:
        """This place, then the call that led here, then the call that led there, ..."""
        return (self,) if self.caller is None else (self, *self.caller.chain)

    def is_inside(self, other: Loc) -> bool:
        """Whether this is a part of the other range, reached by the same calls."""
        return (
            self.source == other.source
            and self.caller == other.caller
            and (other.line, other.column) <= (self.line, self.column)
            and (self.end_line, self.end_column) <= (other.end_line, other.end_column)
        )

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}"


NOWHERE = Loc(SourceName("<none>"), 0, 0, 0, 0)
