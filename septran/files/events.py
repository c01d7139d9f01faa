"""The events of ruamel's YAML parser as records of ours: what begins and ends where in the text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from ruamel.yaml import YAML

from eas.support.records import frozen

Kind = Literal["stream", "document", "alias", "scalar", "items", "map", "end"]

_KINDS: dict[str, Kind] = {
    "StreamStartEvent": "stream",
    "StreamEndEvent": "stream",
    "DocumentStartEvent": "document",
    "DocumentEndEvent": "stream",
    "AliasEvent": "alias",
    "ScalarEvent": "scalar",
    "SequenceStartEvent": "items",
    "MappingStartEvent": "map",
    "SequenceEndEvent": "end",
    "MappingEndEvent": "end",
}


@frozen(eq=False)
class Event:
    """One step of the parser. `version` is what `%YAML` says at the start of a document."""

    kind: Kind
    start: int
    end: int
    text: str
    tag: str
    anchor: str
    is_plain: bool
    is_quoted: bool
    is_flow: bool
    version: tuple[int, ...]


class NotYaml(Exception):
    """A text that the parser refuses: the problem, its offset, and what it belongs to."""

    def __init__(self, problem: str, at: int, context: str = "", context_at: int = -1) -> None:
        super().__init__(problem)
        self.problem = " ".join(problem.split())
        self.at = at
        self.context = context
        self.context_at = context_at


def parse_events(text: str) -> Iterator[Event]:
    """The events of a text, one after the other."""
    reached = 0
    parser: Any = YAML(typ="safe", pure=True)
    try:
        for event in parser.parse(text):
            reached = event.start_mark.index
            yield _event(event)
    except Exception as error:
        # Not only `YAMLError`: the parser has faults, as for the escape "\UFFFFFFFF".
        raise _not_yaml(error, reached) from error


def _event(event: Any) -> Event:
    style = getattr(event, "style", None)
    return Event(
        _KINDS[type(event).__name__],
        event.start_mark.index,
        event.end_mark.index,
        getattr(event, "value", None) or "",
        str(getattr(event, "tag", None) or ""),
        getattr(event, "anchor", None) or "",
        not style,
        style in ("'", '"'),
        bool(getattr(event, "flow_style", False)),
        tuple(getattr(event, "version", None) or ()),
    )


def _not_yaml(error: Any, reached: int) -> NotYaml:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        return NotYaml(f"it cannot be parsed ({error})", reached)
    problem = error.problem or error.context or "it cannot be parsed"
    if not error.context or error.context_mark is None or error.context_mark.index == mark.index:
        return NotYaml(problem, mark.index)
    return NotYaml(problem, mark.index, error.context, error.context_mark.index)
