"""Holds a tree against a pydantic model, and says what does not fit in the user's words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, Tag, ValidationError

from eas.septran.files import nodes
from eas.septran.files.complaints import Complaints, quoted, suggest
from eas.septran.files.model import LONGEST_NAME, OWN
from eas.septran.files.nodes import Map, Node, Scalar
from eas.septran.files.tune_tags import BRANCHES, TUNE_TYPES
from eas.support.close_names import close_matches

M = TypeVar("M", bound=BaseModel)


def validate(model: type[M], root: Node, complaints: Complaints) -> M | None:
    """The model of a tree, or None and complaints."""
    try:
        return model.model_validate(nodes.to_data(root))
    except ValidationError as error:
        for each in error.errors(include_url=False, include_input=False):
            _complain(model, root, each, complaints)
        return None


def _complain(model: type[BaseModel], root: Node, error: Any, complaints: Complaints) -> None:
    kind: str = error["type"]
    context: dict[str, Any] = error.get("ctx") or {}
    *around, last = error["loc"] or ("",)
    is_key = last == "[key]" and kind not in ("extra_forbidden", "missing")
    path = _path_in(root, around if is_key else error["loc"])
    if kind == OWN:
        steps = filter(None, str(context["at"]).split("."))
        path = [*path, *steps]
        complaints.add(context["code"], context["message"], nodes.place(root, path))
    elif kind == "extra_forbidden":
        loc = nodes.key_place(root, [*_path_in(root, around), last])
        help = suggest(last, _keys_at(model, around), "the keys are")
        complaints.add("S106", f"unknown key {quoted(last)}", loc, help=help)
    elif kind == "missing":
        holder = _path_in(root, around)
        loc = nodes.key_place(root, holder) if holder else nodes.place(root, [])
        complaints.add("S107", f"the key `{last}` is missing", loc)
    elif kind in ("union_tag_invalid", "literal_error"):
        _complain_about_word([*path, "type"] if kind[0] == "u" else path, root, context, complaints)
    elif kind == "union_tag_not_found":
        _complain_about_missing_type(path, root, complaints)
    else:
        loc = nodes.key_place(root, path) if is_key else nodes.place(root, path)
        code, message, help = _wrong_value(kind, nodes.find(root, path), path, context, is_key)
        complaints.add(code, message or error["msg"], loc, help=help)


def _path_in(root: Node, loc: Sequence[str | int]) -> list[Any]:
    """The keys of an error's place, without the names of branches that pydantic puts between."""
    path: list[str | int] = []
    node: Node | None = root
    for n, step in enumerate(loc):
        inner = None if node is None else nodes.child(node, step)
        is_type = n > 0 and loc[n - 1] == "<tune>" and step in TUNE_TYPES
        if is_type or (inner is None and (step in BRANCHES or n < len(loc) - 1)):
            continue
        path.append(step)
        node = inner
    return path


def _complain_about_word(
    path: Sequence[str | int], root: Node, context: dict[str, Any], complaints: Complaints
) -> None:
    words = re.findall(r"'([^']*)'", str(context.get("expected") or context["expected_tags"]))
    node = nodes.find(root, path)
    value = node.value if isinstance(node, Scalar) else None
    found = quoted(value) if isinstance(value, str) else nodes.describe(node) if node else "nothing"
    help = suggest(str(value), words, "there are") or ()
    key = next(step for step in reversed(path) if isinstance(step, str))
    message = f"{found} is not a value of `{key}`"
    complaints.add("S109", message, nodes.place(root, path), help=help)


def _complain_about_missing_type(
    path: Sequence[str | int], root: Node, complaints: Complaints
) -> None:
    node = nodes.find(root, path)
    for key in node.entries if isinstance(node, Map) else ():
        if close_matches(str(key), ["type"]):
            help = ["did you mean `type`?"]
            loc = nodes.key_place(root, [*path, key])
            complaints.add("S106", f"unknown key {quoted(key)}", loc, help=help)
            return
    complaints.add("S107", "the key `type` is missing", nodes.place(root, path))


_EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "`true` or `false`",
    "float_type": "a number",
    "string_type": "a text",
    "dict_type": "a map",
    "model_type": "a map",
    "model_attributes_type": "a map",
    "list_type": "a list",
    "finite_number": "a finite number",
}


def _wrong_value(
    kind: str, node: Node | None, path: Sequence[Any], context: dict[str, Any], is_key: bool
) -> tuple[str, str, Sequence[str]]:
    if kind in _EXPECTED:
        message = f"expected {_EXPECTED[kind]}, found {nodes.describe(node) if node else 'nothing'}"
        is_open = isinstance(node, Map) and not node.is_tune and "type" in node.entries
        return "S108", message, ["a choice begins with `!tune`"] if is_open else _example(path)
    if kind == "too_short":
        return "S109", f"`{path[-1]}` is empty: expected at least one", []
    name = str(path[-1]) if is_key else _text(node)
    is_name = context.get("max_length", 0) <= LONGEST_NAME
    if is_name and kind in ("string_pattern_mismatch", "string_too_long"):
        return "S110", f"{quoted(name)} is not a name", [_rule(context)]
    return "S109", _RANGES.get(kind, _no_words)(context), []


_CONDITIONS = {
    "when": 'write a condition on sizes: `when: "M >= 256"`',
    "constraints": 'write a list of conditions: `constraints: ["M % 8 == 0"]`',
}


def _example(path: Sequence[Any]) -> list[str]:
    """How a value is written that is a condition."""
    return [_CONDITIONS[key] for key in path[-1:] if key in _CONDITIONS]


def _rule(context: dict[str, Any]) -> str:
    pattern = str(context.get("pattern", ""))
    if "->" in pattern:
        return "write it as `GLOBAL->SHARED`"
    if r"\." in pattern:
        return "it is made of letters, digits and underscores, with dots between"
    return "it is made of letters, digits and underscores"


def _text(node: Node | None) -> str:
    return str(node.value) if isinstance(node, Scalar) else ""


def _no_words(context: dict[str, Any]) -> str:
    return ""


_RANGES: dict[str, Callable[[dict[str, Any]], str]] = {
    "greater_than": lambda c: f"expected a number above {c['gt']}",
    "greater_than_equal": lambda c: f"expected a number of at least {c['ge']}",
    "less_than": lambda c: f"expected a number below {c['lt']}",
    "less_than_equal": lambda c: f"expected a number of at most {c['le']}",
    "too_long": lambda c: f"expected at most {c['max_length']}, found {c['actual_length']}",
    "string_unicode": lambda c: "expected a text, found one with half of a character",
    "string_too_short": lambda c: "expected a text, found an empty one",
    "string_too_long": lambda c: f"expected a text of at most {c['max_length']} characters",
}


def _keys_at(model: type[BaseModel], loc: Sequence[str | int]) -> list[str]:
    """The keys that the model knows at a place."""
    types: list[_Branch] = [("", model)]
    for step in loc:
        types = [inner for each in types for inner in _step(each, step)]
    keys = (key for _, each in types if _is_model(each) for key in each.model_fields)
    return list(dict.fromkeys(keys))


_Branch = tuple[str, Any]  # the tag of a union's branch, and its type


def _step(branch: _Branch, step: str | int) -> list[_Branch]:
    """The types behind a key, an index, or the name of a branch."""
    tag, of = branch
    if step in BRANCHES:
        return [branch] if tag == step else []
    if tag == "<tune>" and step in TUNE_TYPES:
        return [branch] if step in get_args(of.model_fields["type"].annotation) else []
    if _is_model(of):
        field = of.model_fields.get(str(step))
        return [] if field is None else list(_branches(field.annotation))
    inner = get_args(of)[-1:] if get_origin(of) in (dict, list) else ()
    return [each for one in inner for each in _branches(one)]


def _branches(annotation: Any, tag: str = "") -> Iterator[_Branch]:
    if get_origin(annotation) is Annotated:
        inner, *rest = get_args(annotation)
        tags = [each.tag for each in rest if isinstance(each, Tag)]
        yield from _branches(inner, tags[0] if tags else tag)
    elif get_origin(annotation) in (Union, UnionType):
        for inner in get_args(annotation):
            yield from _branches(inner, tag)
    else:
        yield tag, annotation


def _is_model(of: Any) -> bool:
    return isinstance(of, type) and issubclass(of, BaseModel)
