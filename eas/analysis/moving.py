"""Results of an analysis for a text whose statements have moved, but are the same.

A kernel that nobody has edited is not compiled again when lines are added above it: the places of
what was found in it are moved.
"""

from __future__ import annotations

from typing import Any, cast

from eas.analysis.analyze import Found
from eas.analysis.outline import Outline, Written
from eas.support.records import frozen

Span = tuple[int, int]
Key = tuple[object, ...]


@frozen(eq=False)
class Cached:
    """What was found, and where the statements stood that it depends on: the kernel, the rest."""

    found: Found
    own: Span
    rest: tuple[Span, ...]


class Cache:
    """What was found of the kernels of earlier texts of a file, by all that it depends on."""

    def __init__(self) -> None:
        self._entries: dict[Key, Cached] = {}

    def look_up(
        self, key: Key, outline: Outline, written: Written, rest: list[int]
    ) -> Found | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        now = [outline.spans[written.statement], *(outline.spans[number] for number in rest)]
        moves = [
            (old, new[0] - old[0]) for old, new in zip([entry.own, *entry.rest], now, strict=True)
        ]
        if entry.found.unfinished and any(by for _, by in moves):
            return None
        return moved(entry.found, outline.path, moves)

    def add(
        self, key: Key, found: Found, outline: Outline, written: Written, rest: list[int]
    ) -> None:
        spans = tuple(outline.spans[number] for number in rest)
        self._entries[key] = Cached(found, outline.spans[written.statement], spans)

    def keep(self, keys: set[Key]) -> None:
        """Drops what the newest text does not have any more."""
        self._entries = {key: each for key, each in self._entries.items() if key in keys}


def moved(found: Found, path: str, moves: list[tuple[Span, int]]) -> Found:
    """A copy with every place of the file moved as its statement is."""
    if not any(by for _, by in moves):
        return found

    def line_now(line: int) -> int:
        return next((line + by for (start, end), by in moves if start <= line <= end), line)

    def visit(value: Any) -> Any:
        if isinstance(value, list):
            return [visit(each) for each in cast(list[Any], value)]
        if not isinstance(value, dict):
            return value
        result = {name: visit(each) for name, each in cast(dict[str, Any], value).items()}
        if result.get("path", path) == path:
            for name in {"line", "endLine"} & result.keys():
                result[name] = line_now(result[name])
        return result

    parts = visit(found.kernel), visit(found.diagnostics), visit(found.names)
    return Found(*parts, found.is_cautious)
