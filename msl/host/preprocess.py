"""A text without macros and branches for the preprocessor, line by line where it was."""

from __future__ import annotations

import re

from eas.msl.cxx.python_lines import FILE_NAME
from eas.msl.host.errors import MslError
from eas.msl.host.toolchain import Toolchain, ToolFailure, run_tool

FLAGS = ("-E", "-x", "c++", "-std=c++17", "-undef", "-nostdinc", "-D__METAL__=1")
VERSION = 310

_NEEDED = re.compile(r"^[ \t]*#[ \t]*(?!include\b|import\b|pragma\b)", re.MULTILINE)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*(?:include|import)\b", re.MULTILINE)
_KEPT = re.compile(r"^[ \t]*eas_include\b", re.MULTILINE)
_MARKER = re.compile(rf'# (\d+) "{re.escape(FILE_NAME)}"')


def expand(text: str, tools: Toolchain) -> str:
    """Replaces the text's own macros; includes stay, as do the macros of Metal's library."""
    if not _NEEDED.search(text):
        return text
    hidden = f'#line 1 "{FILE_NAME}"\n' + _INCLUDE.sub("eas_include", text)
    command = [*tools.compiler, *FLAGS, f"-D__METAL_VERSION__={VERSION}", "-"]
    try:
        shown = run_tool(command, hidden)
    except ToolFailure as error:
        raise MslError(f"clang refuses the Metal text\n{error}") from None
    return _KEPT.sub("#include", _in_place(shown))


def _in_place(output: str) -> str:
    """Puts each line where its marker says."""
    lines: list[str] = []
    number, is_ours = 1, False
    for line in output.splitlines():
        if line.startswith("# "):
            marker = _MARKER.match(line)
            is_ours = marker is not None
            number = int(marker[1]) if marker else number
        elif is_ours:
            lines += [""] * (number - len(lines))
            lines[number - 1] = line
            number += 1
    return "\n".join(lines) + "\n"
