"""From a line of a Metal text to the Python line that it comes from."""

from __future__ import annotations

import re

from eas.ir.nodes import Function, walk
from eas.support.escapes import HIDDEN, escape
from eas.support.location import Loc, SourceName

FILE_NAME = "kernel.metal"
_COMMENT = re.compile(r"// ([^/\n]*):(\d+)\s*$")

# What a comment must not contain: line breaks, bytes that are no UTF-8, the end or start of a
# comment, and a backslash or a trigraph (`??/`), which would continue it on the next line.
_UNSAFE = rf"[\\/]|(?<=\?)\?|{HIDDEN}"


def comment_of(loc: Loc) -> str:
    """A Python line as it stands in comments."""
    return f"{_name(loc.source)}:{loc.line}"


def _name(source: SourceName) -> str:
    return escape(source.name, _UNSAFE)


def python_loc(text: str, line: int, sources: dict[str, SourceName]) -> Loc:
    """The Python line of a line of the text: that of the last comment before it.

    A line without one is a line of `FILE_NAME`.
    """
    lines = text.splitlines()
    for number in range(min(line, len(lines)), 0, -1):
        match = _COMMENT.search(lines[number - 1])
        if match:
            source = sources.get(match[1], SourceName(match[1]))
            return _whole_line(source, int(match[2]))
        if not lines[number - 1].strip():
            break  # the lines above belong to the signature or to another function
    return _whole_line(SourceName(FILE_NAME), line)


def sources_of(function: Function) -> dict[str, SourceName]:
    """The source files of a function, by their names in comments."""
    locs = (loc for op in walk(function.body) for loc in op.loc.chain)
    return {_name(loc.source): loc.source for loc in locs}


def _whole_line(source: SourceName, line: int) -> Loc:
    return Loc(source, line, 0, line, 0)
