"""The text of a file: from offsets to places and back."""

from __future__ import annotations

import os
import re
from bisect import bisect_right

from eas.support.location import Loc, SourceName

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


class Text:
    """Characters of a file and where its lines begin.

    YAML's parser counts lines by more characters than editors do, so only its offsets are used.
    """

    def __init__(self, text: str, path: str, name: str = "") -> None:
        self.text = text
        self.lines = _LINE.findall(text)
        self.source = SourceName(name or os.path.basename(path), path, self.lines)
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line))

    def loc(self, start: int, end: int) -> Loc:
        """The place of a range of characters."""
        line, column = self._position(start)
        end_line, end_column = self._position(max(start, end))
        if end_column == 0 and end_line > line:  # what ends a line does not reach into the next
            end_line -= 1
            end_column = len(self.lines[end_line].rstrip("\r\n"))
        return Loc(self.source, line + 1, column, end_line + 1, end_column)

    def offset(self, line: int, column: int) -> int:
        """The offset of a place as `Loc` counts."""
        return self._starts[line - 1] + column

    def cut(self, loc: Loc) -> str:
        """The characters of a place."""
        return self.text[
            self.offset(loc.line, loc.column) : self.offset(loc.end_line, loc.end_column)
        ]

    def _position(self, offset: int) -> tuple[int, int]:
        line = min(bisect_right(self._starts, offset) - 1, max(len(self.lines) - 1, 0))
        return line, offset - self._starts[line]
