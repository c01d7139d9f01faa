"""The arguments of a call in a task, by the names of the parameters of what is called."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Protocol

from eas.septran.logic.errors import LogicError, suggest, words


class Reader(Protocol):
    """What reads a task, and says where a mistake is."""

    def error(self, code: str, node: ast.AST, message: str, *help: str) -> LogicError: ...


def arguments_of(
    reader: Reader, node: ast.Call, names: tuple[str, ...], required: int
) -> Mapping[str, ast.expr]:
    """The arguments of a call by the names of parameters; the first ones are required (S804)."""
    takes = f"`{words(node.func)}` takes {', '.join(f'`{name}`' for name in names)}"
    if any(isinstance(each, ast.Starred) for each in node.args):
        raise reader.error("S804", node, f"{takes}, each by itself")
    if len(node.args) > len(names):
        raise reader.error("S804", node, f"{takes}: {len(node.args)} arguments are given")
    found = dict(zip(names, node.args, strict=False))
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg not in names:
            message = f"`{words(node.func)}` has no parameter `{keyword.arg or '**'}`"
            raise reader.error("S804", keyword, message, *suggest(keyword.arg or "", names))
        if keyword.arg in found:
            raise reader.error("S804", keyword, f"`{keyword.arg}` is given twice")
        found[keyword.arg] = keyword.value
    for name in names[:required]:
        if name not in found:
            raise reader.error("S804", node, f"{takes}: `{name}` is missing")
    return found
