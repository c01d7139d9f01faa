"""The text and the ast of a function, with the true lines and columns of the user's file."""

from __future__ import annotations

import ast
import contextlib
import os
import re
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Any

from eas.frontend_ast.source.compiled import FunctionNode
from eas.frontend_ast.source.errors import Refusal
from eas.frontend_ast.source.prompts import is_typed
from eas.frontend_ast.source.texts import Text, end_of, found_in, indentation, is_cell, texts_of
from eas.support.diagnostics import Diagnostic
from eas.support.location import NOWHERE, Loc, SourceName
from eas.support.records import field, frozen, replace

Span = tuple[int, int, int, int]


@frozen(eq=False)
class FunctionSource:
    """A function with its ast. `lines` is the whole file, so that line 1 is `lines[0]`."""

    name: str
    node: FunctionNode
    source: SourceName
    lines: list[str]
    globals: Mapping[str, object] = field(default_factory=dict[str, object])
    closure: Mapping[str, object] = field(default_factory=dict[str, object])

    def loc(self, node: ast.AST, caller: Loc | None = None) -> Loc:
        """The place of a node of this file, in characters (`ast` counts UTF-8 bytes)."""
        return self._loc(_span(node) or _hull(node, self.node), caller)

    def head(self, node: ast.AST, caller: Loc | None = None) -> Loc:
        """The place of a node; of a statement with a body that of what comes before the body."""
        if type(node) not in _COMPOUND or (start := _span(node)) is None:
            return self.loc(node, caller)
        last = _end_of_head(node)
        if last is not None:
            return self._loc((*start[:2], *end_of(last)), caller)
        word = _FIRST_WORDS.match(self.lines[start[0] - 1].encode(), start[1])
        return self._loc((*start[:2], start[0], word.end() if word else start[1]), caller)

    def _loc(self, span: Span, caller: Loc | None) -> Loc:
        line, column, end_line, end_column = span
        text = self.lines[line - 1]
        if not text.isascii():
            column = _count_characters(text, column)
        if end_line != line:
            text = self.lines[end_line - 1]
        if not text.isascii():
            end_column = _count_characters(text, end_column)
        return Loc(self.source, line, column, end_line, end_column, caller)


# The file of all that `exec` runs. From Python 3.13 on, `python -c` has its text under this name,
# too; nobody can have edited that, so a function that is not in it was run by `exec`.
_UNNAMED = "<string>"


def read_source(fn: Callable[..., Any]) -> FunctionSource:
    """Find the text of a function and parse it; a `Refusal` (E0801) where it cannot be had.

    The text is the one that the function was compiled from, also if its file was edited since.
    """
    function = plain_function(fn)
    texts = list(texts_of(function))
    if not texts:
        raise _no_text(function.__code__)
    for text in texts:
        if (node := text.find(function)) is not None:
            found_in(function, text)
            return _found(function, text, node)
    for text in texts:
        if (node := text.guess(function.__code__)) is not None:
            return _found(function, text, node)
    if function.__code__.co_filename == _UNNAMED:
        raise _no_text(function.__code__)
    raise _changed_text(function.__code__, texts[-1].lines)


def _found(function: FunctionType, text: Text, node: FunctionNode) -> FunctionSource:
    name, source = function.__code__.co_name, _source_name(text)
    return FunctionSource(name, node, source, text.lines, function.__globals__, _closure(function))


# `try`, `class Point`, `async def f`
_FIRST_WORDS = re.compile(rb"(async\s+)?\w+(\s+\w+)?")
_COMPOUND = {
    *(ast.If, ast.While, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.Match, ast.Try),
    *(ast.TryStar, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef),
}


def _end_of_head(node: ast.AST) -> ast.expr | None:
    """The last expression of a statement before its body, if there is one for sure."""
    match node:
        case ast.If(test=last) | ast.While(test=last):
            return last
        case ast.For(iter=last) | ast.AsyncFor(iter=last) | ast.Match(subject=last):
            return last
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return items[-1].optional_vars or items[-1].context_expr
        case _:
            return None


def _span(node: Any) -> Span | None:
    try:
        return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
    except AttributeError:
        return None


def _hull(node: ast.AST, owner: ast.AST) -> Span:
    """From the first to the last child, for nodes without a place of their own (`arguments`).

    An operator has no children either; it is somewhere in its owner.
    """
    spans = [span for child in ast.walk(node) if (span := _span(child))]
    if not spans:
        return _hull(owner, owner)
    return (*min(span[:2] for span in spans), *max(span[2:] for span in spans))


def _count_characters(text: str, column: int) -> int:
    return len(text.encode()[:column].decode())


def plain_function(fn: Callable[..., Any]) -> FunctionType:
    """The function under methods and the like whose text is read."""
    inner: Any = getattr(fn, "__func__", fn)  # methods, staticmethod, classmethod
    if not isinstance(inner, FunctionType):
        raise _not_python(fn)
    return inner


def _closure(function: FunctionType) -> dict[str, object]:
    """The values of the closure that have been assigned so far."""
    values: dict[str, object] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):
            values[name] = cell.cell_contents
    return values


def _source_name(text: Text) -> SourceName:
    return replace(_name_of(text.path), text=text.lines)


def _name_of(path: str) -> SourceName:
    """What is printed must not change from run to run, as the numbers of cells do."""
    if is_cell(path):
        return SourceName("<cell>", path)
    if path.startswith("<doctest "):
        return SourceName("<doctest>", path)
    return SourceName(os.path.basename(path), path)


def _not_python(fn: Callable[..., Any]) -> Refusal:
    name = getattr(fn, "__name__", type(fn).__name__)
    return Refusal(
        Diagnostic(
            "E0801",
            f"`{name}` has no Python source: it is not a function written in Python",
            NOWHERE,
            help=("write it with `def`",),
        )
    )


def _no_text(code: CodeType) -> Refusal:
    path = code.co_filename
    prompt = is_typed(code)
    return Refusal(
        Diagnostic(
            "E0801",
            f"the source of `{code.co_name}` cannot be read",
            Loc(replace(_name_of(path), text=()), code.co_firstlineno, 0, code.co_firstlineno, 0),
            notes=(
                "this prompt does not keep what was typed"
                if prompt
                else f"there is no text for `{path}`: it was run by `exec`, or the file is gone",
            ),
            help=(
                "use IPython or Python 3.13, or put the function into a file and import it"
                if prompt
                else "put the function into a file and import it",
            ),
        )
    )


def _changed_text(code: CodeType, lines: list[str]) -> Refusal:
    return Refusal(
        Diagnostic(
            "E0801",
            f"the source of `{code.co_name}` has changed since it was loaded",
            _line_of(code, lines),
            label=f"`{code.co_name}` was here, and something else is now",
            help=("reload the module or start Python again",),
        )
    )


def _line_of(code: CodeType, lines: list[str]) -> Loc:
    number = min(code.co_firstlineno, len(lines))
    line = lines[number - 1]
    span = indentation(line), len(line.rstrip())
    return Loc(_name_of(code.co_filename), number, span[0], number, span[1])
