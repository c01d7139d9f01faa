"""Functions typed at a prompt that does not keep what was typed, as those before Python 3.13.

The text is still there when a function is defined in a `code.InteractiveConsole`, and afterwards in
the history of a terminal. A text is believed if it compiles to the very code that the function has.
"""

from __future__ import annotations

import inspect
import linecache
import sys
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import Any

from eas.frontend_ast.source.compiled import FUTURE, inner_codes

_PROMPTS = ("<stdin>", "<console>")
# Lines without indentation that go on with a statement.
_MIDDLES = ("else", "elif", "except", "finally", ")", "]", "}")

# The texts that were found, each under a name of its own in `linecache`.
_paths: dict[CodeType, str] = {}


def is_typed(code: CodeType) -> bool:
    return code.co_filename in _PROMPTS


def remember(code: CodeType) -> None:
    """Keeps the text of a function while the console that defines it is still at work."""
    if not is_typed(code) or code in _paths:
        return
    frame = inspect.currentframe()
    while frame is not None:
        if _is_console(frame) and _keep(code, frame.f_locals["source"]):
            return
        frame = frame.f_back


def typed_lines(code: CodeType) -> tuple[str, list[str]]:
    """The name of the text that a function was typed in, and its lines; none if it is not known."""
    if code not in _paths:
        for text in _statements(_history()):
            if code.co_name.strip("<>") in text and _keep(code, text):
                break
    path = _paths.get(code, code.co_filename)
    return path, linecache.getlines(path)


def _is_console(frame: FrameType) -> bool:
    return frame.f_code.co_name == "runsource" and "source" in frame.f_locals


def _keep(code: CodeType, text: str) -> bool:
    text = text.rstrip() + "\n"
    try:
        whole = compile(text, code.co_filename, "exec", code.co_flags & FUTURE, dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    if code not in inner_codes(whole):
        return False
    path = _paths[code] = f"<stdin>-{len(_paths)}"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    return True


def _history() -> list[str]:
    """The lines typed at the terminal, if Python has read them with `readline`."""
    readline: Any = sys.modules.get("readline")
    if readline is None:
        return []
    count = readline.get_current_history_length()
    return [readline.get_history_item(number) or "" for number in range(1, count + 1)]


def _statements(lines: Sequence[str]) -> list[str]:
    """The lines put together to statements, the newest first."""
    statements: list[list[str]] = []
    is_decorated = False
    for line in lines:
        goes_on = line[:1] in (" ", "\t", "") or line.startswith(_MIDDLES)
        if statements and (goes_on or is_decorated):
            statements[-1].append(line)
        else:
            statements.append([line])
        is_decorated = line.startswith("@")
    return ["\n".join(statement) for statement in reversed(statements)]
