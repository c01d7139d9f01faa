"""Which Python line is behind each line of a Metal text and of an IR text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from eas.msl.cxx.python_lines import COMMENT, PythonPlace, places_behind
from eas.review.sources import PythonPart
from eas.support.records import frozen

_IR_PLACE = re.compile(r"[ \t]*@(?P<place>(?:(?P<file>[^\s:@]+):)?(?P<line>\d+):\d+-\S+.*)$")
_IR_FILE = re.compile(r'\) from "([^"]*)"')


@frozen
class Line:
    """A line without its comment; `python` is the line behind it, counted in all parts."""

    text: str
    python: int = -1


def python_lines(parts: Sequence[PythonPart]) -> list[Line]:
    """The lines of all functions, one after the other."""
    texts = [line for part in parts for line in part.lines]
    return [Line(text.expandtabs(4), number) for number, text in enumerate(texts)]


def metal_lines(text: str, parts: Sequence[PythonPart]) -> list[Line]:
    return [
        Line(COMMENT.sub("", line).rstrip(), -1 if place is None else _number(place, parts))
        for line, place in zip(text.splitlines(), places_behind(text), strict=True)
    ]


def ir_lines(text: str, parts: Sequence[PythonPart]) -> list[Line]:
    own = _IR_FILE.search(text)
    file = own[1] if own else ""
    found: list[Line] = []
    for line in text.splitlines():
        match = _IR_PLACE.search(line)
        if match is None:
            found.append(Line(line.rstrip()))
            continue
        place = PythonPlace(match["file"] or file, int(match["line"]), is_stored=False)
        found.append(Line(line[: match.start()].rstrip(), _number(place, parts)))
    return found


def _number(place: PythonPlace, parts: Sequence[PythonPart]) -> int:
    """The number of a Python line among those of all parts, or -1."""
    before = 0
    for at, part in enumerate(parts):
        line = _line_in(place, part, is_kernel=at == 0)
        if line is not None and part.first <= line <= part.last:
            return before + line - part.first
        before += len(part.lines)
    return -1


def _line_in(place: PythonPlace, part: PythonPart, *, is_kernel: bool) -> int | None:
    if place.is_stored:
        is_own = part.name == place.name or (is_kernel and not place.name)
        return part.head + place.line if is_own else None
    return place.line if part.file.rpartition("/")[2] == place.name else None
