"""Private names: in a class `A`, Python compiles `__x` as `_A__x`."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import TypeVar, cast

N = TypeVar("N", bound=ast.AST)

# The fields that hold names. Keywords of calls and of patterns are not among them: Python leaves
# those as they are.
_FIELDS = ("id", "attr", "arg", "name", "asname", "rest", "names")


def with_private_names(function: N, owner: str | None) -> N:
    """A function of a class with its private names as they are compiled.

    Its own name stays as it is written. Most functions have none, and are given back themselves.
    """
    owner = (owner or "").lstrip("_")
    if not owner or not any(_has_private(node) for node in ast.walk(function)):
        return function

    def rename(name: str) -> str:
        return f"_{owner}{name}" if is_private(name) else name

    copied = copy.deepcopy(function)
    for child in ast.iter_child_nodes(copied):
        _rename(child, rename)
    return copied


def is_private(name: object) -> bool:
    return isinstance(name, str) and name.startswith("__") and not name.endswith("__")


def _has_private(node: ast.AST) -> bool:
    return any(
        is_private(name) or (isinstance(name, list) and any(map(is_private, cast(list[str], name))))
        for name in (getattr(node, field, None) for field in _FIELDS)
    )


def _rename(node: ast.AST, rename: Callable[[str], str]) -> None:
    for field in () if isinstance(node, ast.keyword) else _FIELDS:
        match getattr(node, field, None):
            case str(name):
                setattr(node, field, rename(name))
            case [str(), *_] as names:
                setattr(node, field, list(map(rename, cast(list[str], names))))
            case _:
                pass
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.ClassDef) and child in node.body:
            continue  # its private names are its own
        _rename(child, rename)
