"""From a line of a Metal text to the Python line that it comes from.

A line of a text ends with `// kernels.py:12` where its Python line is another one than that of the
line before. In a stored text it is `// +3`, the third line after the kernel's `def`, or
`// clamp+1`, a line of another function.
"""

from __future__ import annotations

import re

from eas.ir.nodes import Function, walk
from eas.support.escapes import escape
from eas.support.location import Loc, SourceName
from eas.support.records import frozen

FILE_NAME = "kernel.metal"
COMMENT = re.compile(
    r"// (?:(?P<file>[^/\n]*):(?P<line>\d+)|(?P<function>\w*)\+(?P<offset>\d+))[ \t\r]*$",
    re.MULTILINE,
)

# What a comment must not contain: line breaks, bytes that are no UTF-8, the end or start of a
# comment, and a backslash or a trigraph (`??/`), which would continue it on the next line.
_UNSAFE = r"[\\/]|(?<=\?)\?"


def comment_of(loc: Loc) -> str:
    """A Python line as it stands in comments."""
    return f"{_name(loc.source)}:{loc.line}"


def _name(source: SourceName) -> str:
    return escape(source.name, _UNSAFE)


@frozen
class PythonPlace:
    """What a comment says: a line of a file, or in a stored text a line after a `def`."""

    name: str
    line: int
    is_stored: bool


def places_behind(text: str) -> list[PythonPlace | None]:
    """The Python line behind each line of a text; None where there is none."""
    found: list[PythonPlace | None] = []
    current: PythonPlace | None = None
    for line in text.splitlines():
        match = COMMENT.search(line)
        if match is not None:
            current = _place(match)
        elif not line.startswith((" ", "}")):
            current = None  # the signature, or another function
        found.append(current)
    return found


def _place(match: re.Match[str]) -> PythonPlace:
    if match["file"] is not None:
        return PythonPlace(match["file"], int(match["line"]), is_stored=False)
    return PythonPlace(match["function"], int(match["offset"]), is_stored=True)


def python_loc(text: str, line: int, sources: dict[str, SourceName]) -> Loc:
    """The Python line of a line of the text: that of the last comment before it.

    A line without one is a line of `FILE_NAME`.
    """
    lines = text.splitlines()
    for number in range(min(line, len(lines)), 0, -1):
        match = COMMENT.search(lines[number - 1])
        if match and match["file"] is not None:
            source = sources.get(match["file"], SourceName(match["file"]))
            return _whole_line(source, int(match["line"]))
        if not lines[number - 1].strip():
            break  # the lines above belong to the signature or to another function
    return _whole_line(SourceName(FILE_NAME), line)


def sources_of(function: Function) -> dict[str, SourceName]:
    """The source files of a function, by their names in comments."""
    locs = (loc for op in walk(function.body) for loc in op.loc.chain)
    return {_name(loc.source): loc.source for loc in locs}


def _whole_line(source: SourceName, line: int) -> Loc:
    return Loc(source, line, 0, line, 0)
