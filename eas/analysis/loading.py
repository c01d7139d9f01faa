"""Imports a file as a module: the only place where code of the user's runs."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import tokenize
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import eas
from eas.analysis.outline import lines_of
from eas.support.diagnostics import Diagnostic
from eas.support.location import Loc, SourceName

# The codes of what is wrong with a file as such; they have no pages.
SYNTAX, IMPORT, EXAMPLE, INTERNAL = "syntax", "import", "example", "E0900"
_INVALID = "invalid syntax"  # how many of Python's own messages begin


class ImportFailure(Exception):
    """A file that cannot be imported, and why: `missing` is the module that is not installed."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...], missing: str = "") -> None:
        super().__init__(diagnostics)
        self.diagnostics = diagnostics
        self.missing = missing


def read_text(path: str) -> str:
    """The text of a file in the encoding that it declares; its line ends become `\\n`."""
    with tokenize.open(path) as stream:
        return stream.read()


def import_file(path: str, folders: Sequence[str]) -> dict[str, Any]:
    """The names of the module that a file makes; `ImportFailure` if it cannot be imported.

    In a package it is imported by its whole name, elsewhere as `python FILE` would find others. The
    `folders` are those that it may import from besides its own.
    """
    name, folder = _module_name(path)
    sys.path[:0] = [folder, *(each for each in folders if each not in sys.path)]
    try:
        if "." in name:
            importlib.import_module(name.rpartition(".")[0])
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return vars(module)
    except eas.CompileError as error:  # a kernel was launched or compiled by the module itself
        raise ImportFailure((*error.diagnostics, failure(error, path))) from error
    except SyntaxError as error:
        raise ImportFailure((syntax_error(error, path),)) from error
    except ModuleNotFoundError as error:
        raise ImportFailure((failure(error, path),), error.name or "") from error
    except BaseException as error:  # `SystemExit` and `KeyboardInterrupt` end the import, too
        raise ImportFailure((failure(error, path),)) from error


def _module_name(path: str) -> tuple[str, str]:
    """The name of a file's module, and the folder that it is found from."""
    folder, file = os.path.split(path)
    stem = os.path.splitext(file)[0]
    parts = [] if stem == "__init__" else [stem]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    if any("." in part for part in parts):  # no module has such a name
        return f"_eas_{stem.replace('.', '_')}", os.path.dirname(path)
    is_taken = len(parts) == 1 and (parts[0] in sys.stdlib_module_names or parts[0] in sys.modules)
    return f"_eas_{parts[0]}" if is_taken or not parts else ".".join(parts), folder


def syntax_error(error: SyntaxError, path: str, unsaved: str | None = None) -> Diagnostic:
    """Python's own error, at its place; of another file, at the import of that."""
    if error.filename is not None and os.path.abspath(error.filename) != path:
        return failure(error, path)
    lines = _lines(path, error) if unsaved is None else lines_of(unsaved)
    line = min(max(error.lineno or 1, 1), max(len(lines), 1))
    text = lines[line - 1].rstrip("\r\n") if lines else ""
    column = min(max((error.offset or 1) - 1, 0), len(text))
    end = error.end_offset - 1 if error.end_offset and error.end_lineno == error.lineno else 0
    end = min(max(end, column + 1), max(len(text), column + 1))
    source = SourceName(os.path.basename(path), path, lines)
    what = error.msg if error.msg.startswith(_INVALID) else f"{_INVALID}: {error.msg}"
    return Diagnostic(SYNTAX, what, Loc(source, line, column, line, end))


def _lines(path: str, error: SyntaxError) -> list[str]:
    try:
        return lines_of(read_text(path))
    except (OSError, SyntaxError, UnicodeDecodeError):
        return [error.text] if error.text else []


def failure(error: BaseException, path: str) -> Diagnostic:
    """What an import has raised, at the place in the file that led there."""
    if isinstance(error, SystemExit):
        what = f"the module ended itself: SystemExit({error.code!r})"
    else:
        first = _message(error).strip().partition("\n")[0]
        what = f"{type(error).__name__}: {first}" if first else type(error).__name__
    frames = _frames(error.__traceback__)
    own = [each for each in frames if each.tb_frame.f_code.co_filename == path]
    source = SourceName(os.path.basename(path), path)
    loc = _place(own[-1], source) if own else Loc(source, 1, 0, 1, 0)
    notes = ()
    if frames and frames[-1] not in own and not _is_of_no_use(frames[-1]):
        code, line = frames[-1].tb_frame.f_code, frames[-1].tb_lineno
        notes = (f"it is raised in {code.co_filename}, line {line}",)
    return Diagnostic(IMPORT, f"the file cannot be imported: {what}", loc, notes=notes)


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # of a class that the file defines
        return ""


def _is_of_no_use(trace: TracebackType) -> bool:
    """Whether easy_as or the import itself refuses something, not a file that a user can see."""
    module = str(trace.tb_frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] in ("eas", "importlib", "_frozen_importlib")


def _frames(trace: TracebackType | None) -> list[TracebackType]:
    found: list[TracebackType] = []
    while trace is not None:
        found.append(trace)
        trace = trace.tb_next
    return found


def _place(trace: TracebackType, source: SourceName) -> Loc:
    """The instruction that raised; Python counts its columns in UTF-8 bytes."""
    line = trace.tb_lineno
    positions = list(trace.tb_frame.f_code.co_positions())
    start, end, column, end_column = positions[trace.tb_lasti // 2]
    if start != line or end is None or column is None or end_column is None:
        text = source.line(line)
        return Loc(source, line, len(text) - len(text.lstrip()), line, len(text.rstrip()))
    first = len(source.line(line).encode()[:column].decode(errors="replace"))
    last = len(source.line(end).encode()[:end_column].decode(errors="replace"))
    return Loc(source, line, first, end, last)
