"""Places of ours as positions of the protocol, and back."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from eas.analysis.outline import lines_of
from eas.analysis.results import Place

_BYTES = {
    types.PositionEncodingKind.Utf8: ("utf-8", 1),
    types.PositionEncodingKind.Utf16: ("utf-16-le", 2),
    types.PositionEncodingKind.Utf32: ("utf-32-le", 4),
}


class Positions:
    """The lines of one text, and the units in which the client counts their characters."""

    def __init__(self, text: str, encoding: types.PositionEncodingKind | str) -> None:
        self.lines: Sequence[str] = lines_of(text)
        self._encoding, self._size = _BYTES[types.PositionEncodingKind(encoding)]

    def line(self, number: int) -> str:
        """A line, counted from 0, without its end."""
        return self.lines[number].rstrip("\r\n") if number < len(self.lines) else ""

    def range_of(self, place: Place) -> types.Range:
        """A place of ours, as the client counts."""
        return types.Range(
            self._position(place["line"], place["column"]),
            self._position(place["endLine"], place["endColumn"]),
        )

    def _position(self, line: int, column: int) -> types.Position:
        before = self.line(line - 1)[: column - 1]
        units = len(before.encode(self._encoding, "surrogatepass")) // self._size
        return types.Position(line - 1, units)

    def column_of(self, position: types.Position) -> int:
        """The character of a line at a position, counted from 0."""
        data = self.line(position.line).encode(self._encoding, "surrogatepass")
        return len(data[: position.character * self._size].decode(self._encoding, "ignore"))

    def text_at(self, place: Place) -> str:
        """The text of a place on one line."""
        return self.line(place["line"] - 1)[place["column"] - 1 : place["endColumn"] - 1]
