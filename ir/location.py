"""Where in the user's Python an op or an error comes from."""

from __future__ import annotations

from eas.ir.records import field, frozen


@frozen
class SourceName:
    """A source file: `name` is printed (the same on every machine), `path` finds the file."""

    name: str
    path: str = field(default="", compare=False)


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
