"""The text and the ast of a function, with the true lines and columns of the user's file."""

from __future__ import annotations

import ast
import contextlib
import inspect
import linecache
import os
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from types import CodeType, FunctionType
from typing import Any

from eas.frontend_ast.errors import Refusal
from eas.frontend_ast.prompts import is_typed, typed_lines
from eas.ir.diagnostics import Diagnostic
from eas.ir.location import NOWHERE, Loc, SourceName
from eas.ir.records import field, frozen

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
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
            return self._loc((*start[:2], *_end(last)), caller)
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


def read_source(fn: Callable[..., Any]) -> FunctionSource:
    """Find the text of a function and parse it; a `Refusal` (E0801) where it cannot be had."""
    function = plain_function(fn)
    code = function.__code__
    path, lines = _read_lines(function)
    if not lines:
        raise _no_text(code)
    text = _text_of(path, lines)
    node = text.find_lambda(code) if code.co_name == "<lambda>" else text.find_function(code)
    return FunctionSource(
        code.co_name, node, _source_name(path), lines, function.__globals__, _closure(function)
    )


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


def _read_lines(function: FunctionType) -> tuple[str, list[str]]:
    """The name of a function's file, and all of its lines."""
    # `linecache.getlines` is looked up at each call: doctest and IPython replace it.
    code = function.__code__
    path = code.co_filename
    linecache.checkcache(path)
    lines = linecache.getlines(path, function.__globals__)
    if not lines and (read := getattr(linecache, "_getlines_from_code", None)):
        lines = read(code)  # the REPL of Python 3.13 keeps the text beside the code object
        if lines:
            linecache.cache[path] = (sum(map(len, lines)), None, lines, path)
    return (path, lines) if lines or not is_typed(code) else typed_lines(code)


_CELL = re.compile(r"<(ipython|python)-input-.*>|<stdin>-\d+|.*[/\\]ipykernel_\d+[/\\]\d+\.py")


def _source_name(path: str) -> SourceName:
    """What is printed must not change from run to run, as the numbers of cells do."""
    if _CELL.fullmatch(path):
        return SourceName("<cell>", path)
    if path.startswith("<doctest "):
        return SourceName("<doctest>", path)
    return SourceName(os.path.basename(path), path)


# --- finding the node -------------------------------------------------------------------------


class _Text:
    """One state of a file, and what has been parsed of it so far."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self._functions: dict[int, FunctionNode | None] = {}

    def find_function(self, code: CodeType) -> FunctionNode:
        first = code.co_firstlineno
        if first not in self._functions:
            self._functions[first] = _parse_block(self.lines, first) or self._search(first)
        node = self._functions[first]
        if node is None or not _matches(node, code):
            raise _changed_text(code, self.lines)
        return node

    def find_lambda(self, code: CodeType) -> ast.Lambda:
        found = [
            node
            for node in self._nodes
            if isinstance(node, ast.Lambda)
            and node.lineno == code.co_firstlineno
            and _matches(node, code)
        ]
        if len(found) > 1:
            found = _holding(found, code)
        if not found:
            raise _changed_text(code, self.lines)
        if len(found) > 1:
            raise _ambiguous_lambda(code, self.lines)
        return found[0]

    def _search(self, first: int) -> FunctionNode | None:
        for node in self._nodes:
            if not isinstance(node, ast.Lambda):
                start = min((node.lineno, *(d.lineno for d in node.decorator_list)))
                if start == first:
                    return node
        return None

    @cached_property
    def _nodes(self) -> list[FunctionNode]:
        """Every function of the file; the whole file has to be parsed for it."""
        tree = _try_parse("".join(self.lines))
        return [n for n in ast.walk(tree) if isinstance(n, FunctionNode)] if tree else []


# Like `linecache`, whose lists of lines tell whether an entry is still good.
_texts: dict[str, _Text] = {}


def _text_of(path: str, lines: list[str]) -> _Text:
    text = _texts.get(path)
    if text is None or (text.lines is not lines and text.lines != lines):
        text = _texts[path] = _Text(lines)
    return text


_MAX_ATTEMPTS = 32


def _parse_block(lines: list[str], first: int) -> FunctionNode | None:
    """Parse the lines of one function only: a large file would take as long as all the rest.

    Empty lines before the text keep the numbers true, an `if` around it keeps the indentation.
    """
    indent = _indentation(lines[first - 1]) if first <= len(lines) else 0
    if indent and first == 1:
        return None
    head = "\n" * (first - 2) + "if 1:\n" if indent else "\n" * (first - 1)
    for end in islice(_block_ends(lines, first, indent), _MAX_ATTEMPTS):
        if tree := _try_parse(head + "".join(lines[first - 1 : end])):
            return _first_function(tree)
    return None


_DEF = re.compile(r"\s*(async\s+)?def\b")


def _block_ends(lines: list[str], first: int, indent: int) -> Iterator[int]:
    """Where the function may end: before each line that is not indented deeper than its `def`.

    Such a line can also belong to a string or a bracket; then the text before it does not parse.
    """
    has_def = False
    for number in range(first - 1, len(lines)):
        line = lines[number]
        if has_def and _indentation(line) <= indent and line.strip()[:1] not in ("", "#"):
            yield number
        has_def = has_def or _DEF.match(line) is not None
    yield len(lines)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _first_function(tree: ast.Module) -> FunctionNode | None:
    node = tree.body[0] if tree.body else None
    if isinstance(node, ast.If):
        node = node.body[0]
    return node if isinstance(node, FunctionNode) else None


def _try_parse(text: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they were shown when the file was loaded
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError):
            return None


def _matches(node: FunctionNode, code: CodeType) -> bool:
    """Whether the text still has the name and the parameters that the code was compiled from."""
    a = node.args
    positional = [*a.posonlyargs, *a.args]
    written = (
        len(a.posonlyargs),
        len(positional),
        len(a.kwonlyargs),
        bool(a.vararg),
        bool(a.kwarg),
    )
    compiled = (
        code.co_posonlyargcount,
        code.co_argcount,
        code.co_kwonlyargcount,
        bool(code.co_flags & inspect.CO_VARARGS),
        bool(code.co_flags & inspect.CO_VARKEYWORDS),
    )
    names = [p.arg for p in (*positional, *a.kwonlyargs, a.vararg, a.kwarg) if p]
    return (
        written == compiled
        and all(map(_is_same_name, names, code.co_varnames))
        and (isinstance(node, ast.Lambda) or _is_same_name(node.name, code.co_name))
    )


def _is_same_name(written: str, compiled: str) -> bool:
    if written.startswith("__"):  # in a class body `__x` is compiled to `_Class__x`
        return compiled.endswith(written)
    return unicodedata.normalize("NFKC", written) == compiled


def _holding(nodes: list[ast.Lambda], code: CodeType) -> list[ast.Lambda]:
    """The innermost lambda whose body holds all positions of the code; all if there are none."""
    places = [
        ((line, column), (end_line, end_column))
        for line, end_line, column, end_column in code.co_positions()
        if line and end_line and column is not None and end_column
    ]
    if not places:
        return nodes
    start, end = min(place[0] for place in places), max(place[1] for place in places)
    holding = [n for n in nodes if _start(n.body) <= start and end <= _end(n.body)]
    return [max(holding, key=_start)] if holding else []


def _start(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


# --- refusals ---------------------------------------------------------------------------------


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
            Loc(_source_name(path), code.co_firstlineno, 0, code.co_firstlineno, 0),
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


def _ambiguous_lambda(code: CodeType, lines: list[str]) -> Refusal:
    return Refusal(
        Diagnostic(
            "E0801",
            "there are several lambdas on this line, and Python cannot tell them apart",
            _line_of(code, lines),
            help=("give each a line of its own", "or run Python without `-X no_debug_ranges`"),
        )
    )


def _line_of(code: CodeType, lines: list[str]) -> Loc:
    number = min(code.co_firstlineno, len(lines))
    line = lines[number - 1]
    span = _indentation(line), len(line.rstrip())
    return Loc(_source_name(code.co_filename), number, span[0], number, span[1])
