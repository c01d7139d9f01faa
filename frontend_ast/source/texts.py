"""The texts that functions are compiled from: states of files, cells and what was typed."""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import re
import threading
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from types import CodeType, FunctionType
from weakref import WeakKeyDictionary, WeakSet

from eas.frontend_ast.source.compiled import (
    FunctionNode,
    codes_like,
    imported_names,
    is_compiled_from,
    owner_of,
)
from eas.frontend_ast.source.private_names import with_private_names
from eas.frontend_ast.source.prompts import is_typed, remember, typed_lines
from eas.frontend_ast.source.start import started_at

_CELL = re.compile(r"<(ipython|python)-input-.*>|<stdin>-\d+|.*[/\\]ipykernel_\d+[/\\]\d+\.py")


def is_cell(path: str) -> bool:
    """Whether this is the name of a cell or of a line at a prompt; each has a name of its own."""
    return _CELL.fullmatch(path) is not None


class Text:
    """One state of a file, and what has been parsed of it so far."""

    def __init__(self, path: str, lines: list[str]) -> None:
        self.path = path
        self.lines = lines
        self._changed = _changed_at(path)
        self._functions: dict[int, FunctionNode | None] = {}
        self._found: dict[CodeType, FunctionNode | None] = {}

    def find(self, function: FunctionType) -> FunctionNode | None:
        """The function in this text, if it was compiled from it; it may have moved since."""
        code = function.__code__
        if code not in self._found:
            node = self._compiled_to(code) or self._moved(function)
            self._found[code] = node and with_private_names(node, owner_of(code))
        return self._found[code]

    def place(self, function: FunctionType, node: FunctionNode) -> None:
        """Notes that a function was compiled from a node of this text."""
        code = function.__code__
        self._found[code] = with_private_names(node, owner_of(code))

    def guess(self, code: CodeType) -> FunctionNode | None:
        """What stands where the function should be, if nobody can have edited the text.

        Then tools that change codes have been at work, or another Python compiled the file.
        """
        if not is_cell(self.path) and not self._is_older_than_process():
            return None
        found = self._standing_at(code)
        return with_private_names(found[0], owner_of(code)) if len(found) == 1 else None

    def _is_older_than_process(self) -> bool:
        start = started_at()
        return start is not None and self._changed is not None and self._changed < start

    def _compiled_to(self, code: CodeType) -> FunctionNode | None:
        """Cells and prompts compile each statement apart from the imports before it."""
        found = self._standing_at(code)
        for imports in dict.fromkeys((self._imports, ())):
            for node in found:
                if is_compiled_from(node, code, imports):
                    return node
        return None

    def _moved(self, function: FunctionType) -> FunctionNode | None:
        for code in codes_like(function, "".join(self.lines)):
            if found := self._standing_at(code):
                return found[0]
        return None

    def _standing_at(self, code: CodeType) -> Sequence[FunctionNode]:
        """The functions at the line of a code that have its name and its parameters."""
        if code.co_name != "<lambda>":
            node = self._function_at(code.co_firstlineno)
            return [node] if node is not None and _matches(node, code) else []
        found = [
            node
            for node in self._nodes
            if isinstance(node, ast.Lambda)
            and node.lineno == code.co_firstlineno
            and _matches(node, code)
        ]
        return _holding(found, code) if len(found) > 1 else found

    def _function_at(self, first: int) -> FunctionNode | None:
        if first not in self._functions:
            self._functions[first] = _parse_block(self.lines, first) or self._search(first)
        return self._functions[first]

    def _search(self, first: int) -> FunctionNode | None:
        for node in self._nodes:
            if not isinstance(node, ast.Lambda):
                start = min((node.lineno, *(d.lineno for d in node.decorator_list)))
                if start == first:
                    return node
        return None

    @cached_property
    def _imports(self) -> tuple[str, ...]:
        return imported_names("".join(self.lines))

    @cached_property
    def _nodes(self) -> list[FunctionNode]:
        """Every function of the file; the whole file has to be parsed for it."""
        tree = _try_parse("".join(self.lines))
        return [n for n in ast.walk(tree) if isinstance(n, FunctionNode)] if tree else []


# The text of each function that was found, for as long as there is the function.
_cached: WeakKeyDictionary[FunctionType, Text] = WeakKeyDictionary()

# All of them; the text of a kernel may be that of a helper in its file.
_states: WeakSet[Text] = WeakSet()

# The newest states of some files. Like `linecache`, whose lists of lines show whether an entry is
# still good.
_newest: dict[str, Text] = {}
_MOST_FILES = 64
_lock = threading.Lock()  # of the last two


def keep_texts(function: object) -> None:
    """Keeps the text of a function that is being loaded: its file may be edited later.

    What decorators have wrapped may be of another file.
    """
    while isinstance(function, FunctionType) and function not in _cached:
        remember(function.__code__)
        text = _read(function)
        if text is not None:
            _cached[function] = text
        function = getattr(function, "__wrapped__", None)


def kept_text(function: FunctionType) -> tuple[str, list[str]] | None:
    """The name and the lines of the file that a function was loaded from, if they are known."""
    text = next(texts_of(function), None)
    return None if text is None else (text.path, text.lines)


def restore_text(function: FunctionType, path: str, lines: list[str]) -> None:
    """Notes the text of a function that comes from another process; its file may not exist here."""
    text = Text(path, lines)
    with _lock:
        _states.add(text)
    _cached[function] = text
    if not linecache.getlines(path, function.__globals__):
        linecache.cache[path] = (sum(map(len, lines)), None, lines, path)


def texts_of(function: FunctionType) -> Iterator[Text]:
    """The texts that a function may have been compiled from, the likeliest first."""
    cached = _cached.get(function)
    if cached is not None:
        yield cached
    before = linecache.cache.get(function.__code__.co_filename, ())
    now = _read(function)
    if now is None:
        return
    if now is not cached:
        yield now
    with _lock:
        others = [each for each in _states if each.path == now.path and each not in (cached, now)]
    yield from others
    if len(before) == 4 and before[2] and before[2] != now.lines:
        yield Text(now.path, before[2])


def found_in(function: FunctionType, text: Text) -> None:
    """Notes that a text is the function's, to be asked first from now on."""
    _cached[function] = text


def place_in(function: FunctionType, text: Text, node: FunctionNode) -> None:
    """Notes where a function stands that was never loaded: in a text that is not saved yet."""
    text.place(function, node)
    _cached[function] = text


def _read(function: FunctionType) -> Text | None:
    """The text as it is now."""
    path, lines = _read_lines(function)
    if not lines:
        return None
    with _lock:
        text = _newest.pop(path, None)
        if text is None or (text.lines is not lines and text.lines != lines):
            text = Text(path, lines)
            _states.add(text)
        _newest[path] = text  # behind all others
        if len(_newest) > _MOST_FILES:
            del _newest[next(iter(_newest))]
    return text


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


def _changed_at(path: str) -> float | None:
    """When a file was last written or replaced; None if there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return max(found.st_mtime, found.st_ctime)


_MAX_ATTEMPTS = 32


def _parse_block(lines: list[str], first: int) -> FunctionNode | None:
    """Parse the lines of one function only: a large file would take as long as all the rest.

    Empty lines before the text keep the numbers true, an `if` around it keeps the indentation.
    """
    indent = indentation(lines[first - 1]) if first <= len(lines) else 0
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
        if has_def and indentation(line) <= indent and line.strip()[:1] not in ("", "#"):
            yield number
        has_def = has_def or _DEF.match(line) is not None
    yield len(lines)


def indentation(line: str) -> int:
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
    holding = [n for n in nodes if _start(n.body) <= start and end <= end_of(n.body)]
    return [max(holding, key=_start)] if holding else []


def _start(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def end_of(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
