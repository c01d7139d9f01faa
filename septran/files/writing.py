"""Mappings and machines as YAML text: outer maps as blocks, inner ones in braces."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, cast

from pydantic import BaseModel

from eas.septran.files.nodes import TuneData
from eas.septran.files.scalars import is_text

_BLOCKS = {
    (),
    ("task_mappings",),
    ("procs",),
    ("mems",),
    ("copies",),
    ("primitives",),
    ("symbols",),
}
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./>-]*")


def to_yaml(value: BaseModel | dict[str, Any]) -> str:
    """A model, or its data, as a file; what has its default is left out."""
    data = to_plain(value) if isinstance(value, BaseModel) else value
    return "".join(_block(data, (), "")) or "{}\n"


def to_plain(value: Any) -> Any:
    """The data of a model, as the models read it."""
    several: Any = value  # the type checker knows nothing of what is inside
    if isinstance(value, BaseModel):
        given = {name: to_plain(getattr(value, name)) for name in _given(value)}
        is_tune = "type" in type(value).model_fields
        return TuneData(given) if is_tune else given
    if isinstance(value, dict):
        return {name: to_plain(each) for name, each in several.items()}
    if isinstance(value, list):
        return [to_plain(each) for each in several]
    return value


def _given(value: BaseModel) -> list[str]:
    fields = type(value).model_fields
    return [name for name in fields if name in value.model_fields_set]


def _block(data: dict[str, Any], path: tuple[str, ...], indent: str) -> Iterable[str]:
    for name, value in data.items():
        inner = (*path, name)
        is_instance = len(inner) == 2 and inner[0] == "task_mappings"
        is_map = isinstance(value, dict) and not isinstance(value, TuneData) and value != {}
        if is_map and (inner in _BLOCKS or is_instance):
            yield f"{indent}{_text(name)}:\n"
            yield from _block(cast("dict[str, Any]", value), inner, indent + "  ")
        else:
            yield f"{indent}{_text(name)}: {flow(value)}\n"


def flow(value: Any) -> str:
    """A value on one line."""
    several: Any = value
    if isinstance(value, TuneData):
        return f"!tune {flow(value.data)}"
    if isinstance(value, dict):
        inner = ", ".join(f"{_text(name)}: {flow(each)}" for name, each in several.items())
        return f"{{{inner}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(flow, several))}]"
    if isinstance(value, str):
        return _text(value)
    return "null" if value is None else json.dumps(value)


def _text(text: str) -> str:
    """A text, in quotes if it would mean something else without."""
    if _PLAIN.fullmatch(text) and is_text(text):
        return text
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    """A character in double quotes; JSON would write two halves of one beyond U+FFFF."""
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08X}"
