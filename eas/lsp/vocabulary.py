"""What an editor says about `mk`: completions, documentation, signatures."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, get_overloads

from lsprotocol import types

from eas import language
from eas.ir.types import DType

_IMPORT = re.compile(r"from +eas +import +.*?\bmk\b(?: +as +(\w+))?")


def name_of_mk(text: str) -> str:
    """The name that a text imports `mk` under."""
    found = _IMPORT.search(text)
    return (found and found[1]) or "mk"


@cache
def functions() -> dict[str, Callable[..., Any]]:
    """The functions of `mk` by their names."""
    found = {name: value for name, value in vars(language).items() if not name.startswith("_")}
    return {name: f for name, f in found.items() if hasattr(f, "__eas_intrinsic__")}


@cache
def completions() -> tuple[types.CompletionItem, ...]:
    """Everything behind `mk.`: functions and dtypes."""
    return tuple(_items())


def _items() -> Iterator[types.CompletionItem]:
    for name, function in functions().items():
        yield types.CompletionItem(
            name,
            kind=types.CompletionItemKind.Function,
            detail=labels_of(name)[0],
            documentation=documentation(function),
        )
    for name, value in vars(language).items():
        if isinstance(value, DType):
            yield types.CompletionItem(
                name, kind=types.CompletionItemKind.Constant, detail=f"dtype {value}"
            )


def documentation(function: Callable[..., Any]) -> types.MarkupContent:
    """The docstring, with its examples as code."""
    text = inspect.getdoc(function) or ""
    lines: list[str] = []
    is_code = False
    for line in text.splitlines():
        if line.startswith(">>>") and not is_code:
            lines.append("```python")
            is_code = True
        elif is_code and not line.strip():
            lines.append("```")
            is_code = False
        lines.append(line)
    if is_code:
        lines.append("```")
    return types.MarkupContent(types.MarkupKind.Markdown, "\n".join(lines))


@cache
def forms_of(name: str) -> tuple[inspect.Signature, ...]:
    """The signatures of a function: one, or one for each overload."""
    function = functions()[name]
    overloads = get_overloads(inspect.unwrap(function))
    return tuple(inspect.signature(each) for each in overloads or [function])


@cache
def labels_of(name: str) -> tuple[str, ...]:
    """`mk.load(ptr: Value, offs: Int, mask: Mask = None, ...) -> Value`, for each form."""
    return tuple(
        f"mk.{name}({', '.join(_with_marks(form))}) -> {form.return_annotation}"
        for form in forms_of(name)
    )


def _with_marks(form: inspect.Signature) -> Iterator[str]:
    """The parameters, and the star before those that are given by name only."""
    has_star = False
    for p in form.parameters.values():
        if p.kind is p.KEYWORD_ONLY and not has_star:
            yield "*"
        has_star = has_star or p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        yield _spelled(p)


def _spelled(p: inspect.Parameter) -> str:
    """A parameter with its annotation as it is written."""
    star = "*" if p.kind is p.VAR_POSITIONAL else ""
    default = "" if p.default is p.empty else f" = {p.default!r}"
    return f"{star}{p.name}: {p.annotation}{default}"


def signature_help(text: str, mk: str) -> types.SignatureHelp | None:
    """The signatures of the call that a text ends in, and the argument that is being typed."""
    call = open_call(text)
    if call is None or not call[0].startswith(f"{mk}."):
        return None
    name = call[0].removeprefix(f"{mk}.")
    if name not in functions():
        return None
    active = [_active(form, call) for form in forms_of(name)]
    information = [
        types.SignatureInformation(
            label,
            documentation=documentation(functions()[name]),
            parameters=[types.ParameterInformation(_spelled(p)) for p in form.parameters.values()],
            active_parameter=number or 0,
        )
        for label, form, number in zip(labels_of(name), forms_of(name), active, strict=True)
    ]
    chosen = next((n for n, number in enumerate(active) if number is not None), 0)
    return types.SignatureHelp(information, chosen, active[chosen] or 0)


def _active(form: inspect.Signature, call: tuple[str, int, str]) -> int | None:
    _, position, keyword = call
    names = list(form.parameters)
    if keyword:
        return names.index(keyword) if keyword in names else None
    return position if position < len(names) else None


_CALLED = re.compile(r"([A-Za-z_][\w.]*)\s*$")
_KEYWORD = re.compile(r"\s*(\w+)\s*=(?!=)")
_STRING = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|#[^\n]*")


def open_call(text: str) -> tuple[str, int, str] | None:
    """The function of the innermost call that a text ends in, the number of the argument there,
    and its keyword.

    >>> open_call("x = mk.load(a, f(1, 2), ma")
    ('mk.load', 2, '')
    """
    text = _STRING.sub(lambda found: "_" * len(found[0]), text)
    depth = commas = 0
    start = len(text)
    for place in range(len(text) - 1, -1, -1):
        character = text[place]
        if character in ")]}":
            depth += 1
        elif character in "([{" and depth:
            depth -= 1
        elif character == "(":
            called = _CALLED.search(text[:place])
            if called is None:  # parentheses around an expression
                commas, start = 0, place
                continue
            keyword = _KEYWORD.match(text[(start if commas else place) + 1 :])
            return called[1], commas, keyword[1] if keyword else ""
        elif character in "[{":
            commas, start = 0, place
        elif character == "," and not depth:
            start = place if not commas else start
            commas += 1
    return None
