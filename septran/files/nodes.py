"""The tree of a YAML file, in which every key and value knows its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from eas.support.location import Loc
from eas.support.records import frozen, replace

Plain = None | bool | int | float | str
Path = Sequence[str | int]


@frozen(eq=False)
class Scalar:
    """A single value. `text_at` is where its text begins, if it stands there as it is."""

    value: Plain
    loc: Loc
    text_at: int | None = None

    def part(self, start: int, end: int) -> Loc:
        """The place of some characters of a text; of all of them if escapes move them."""
        if self.text_at is None:
            return self.loc
        column = self.text_at
        return replace(self.loc, column=column + start, end_column=column + end)


@frozen(eq=False)
class Items:
    """A sequence."""

    items: tuple[Node, ...]
    loc: Loc


@frozen(eq=False)
class Entry:
    """A value of a map and the place of its key."""

    key: Loc
    value: Node


@frozen(eq=False)
class Map:
    """A map; with the tag `!tune` it is a choice that is still open."""

    entries: dict[str, Entry]
    loc: Loc
    is_tune: bool = False


Node = Scalar | Items | Map


@frozen
class TuneData:
    """What stands behind a `!tune`, for the models: no map, so that it fits in no map's place."""

    data: dict[str, Any]


def to_data(node: Node) -> Any:
    """The tree as plain Python values, without keys whose value is missing."""
    match node:
        case Scalar():
            return node.value
        case Items():
            return [to_data(each) for each in node.items]
        case Map():
            given = {name: entry.value for name, entry in node.entries.items()}
            data = {name: to_data(each) for name, each in given.items() if not is_nothing(each)}
            return TuneData(data) if node.is_tune else data


def is_nothing(node: Node) -> bool:
    """Whether a value is missing; the composer has complained about it."""
    return isinstance(node, Scalar) and node.value is None


def child(node: Node, step: str | int) -> Node | None:
    """The value of a key or at an index, if there is one."""
    if isinstance(node, Map) and isinstance(step, str):
        entry = node.entries.get(step)
        return None if entry is None else entry.value
    if isinstance(node, Items) and isinstance(step, int) and 0 <= step < len(node.items):
        return node.items[step]
    return None


def find(node: Node, path: Path) -> Node | None:
    """The value that a path leads to."""
    for step in path:
        inner = child(node, step)
        if inner is None:
            return None
        node = inner
    return node


def match(node: Node, pattern: Sequence[str]) -> Iterator[tuple[Path, Node]]:
    """Every value whose path fits a pattern, in which `*` is any key or index."""
    if not pattern:
        yield (), node
        return
    first, *rest = pattern
    steps: Sequence[str | int] = [first]
    if first == "*":
        steps = list(node.entries) if isinstance(node, Map) else range(_length(node))
    for step in steps:
        inner = child(node, step)
        if inner is not None:
            yield from (((step, *path), each) for path, each in match(inner, rest))


def _length(node: Node) -> int:
    return len(node.items) if isinstance(node, Items) else 0


def place(node: Node, path: Path) -> Loc:
    """Where to point at for a value: at itself, or at its key if it takes several lines.

    If it is not there, at the innermost one around it that is.
    """
    shown = first_line(node.loc)
    for step in path:
        inner = child(node, step)
        if inner is None:
            break
        is_short = inner.loc.line == inner.loc.end_line
        shown = inner.loc if is_short else _key(node, step) or first_line(inner.loc)
        node = inner
    return shown


def key_place(node: Node, path: Path) -> Loc:
    """Where the key of a value stands; of what has no key, the value."""
    holder = find(node, path[:-1])
    key = _key(holder, path[-1]) if holder is not None and path else None
    return key or place(node, path)


def _key(holder: Node, step: str | int) -> Loc | None:
    if isinstance(holder, Map) and isinstance(step, str) and step in holder.entries:
        return holder.entries[step].key
    return None


def first_line(loc: Loc) -> Loc:
    """The start of a text that may be long."""
    if loc.line == loc.end_line:
        return loc
    return replace(loc, end_line=loc.line, end_column=loc.column + 1)


def put(node: Map, path: Path, value: Node) -> Map:
    """The tree with one value replaced."""
    step, *rest = path
    entry = node.entries[str(step)]
    inner = put(entry.value, rest, value) if rest and isinstance(entry.value, Map) else value
    return replace(node, entries={**node.entries, str(step): replace(entry, value=inner)})


def describe(node: Node) -> str:
    """What a value is, in a message."""
    match node:
        case Items():
            return "a list"
        case Map(is_tune=True):
            return "a `!tune`"
        case Map():
            return "a map"
        case Scalar(value=None):
            return "nothing"
        case Scalar(value=bool(value)):
            return f"`{str(value).lower()}`"
        case Scalar(value=str(value)):
            return f"the text `{value if len(value) <= 40 else value[:37] + '...'}`"
        case Scalar(value=value):
            return f"the number {value}"
