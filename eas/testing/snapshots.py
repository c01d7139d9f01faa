"""Metal texts in files, to be reviewed: their comments count lines from the `def` of a function.

Lines that are added above a kernel then change nothing in its file.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from eas.compiler import CompiledKernel
from eas.msl.cxx.python_lines import COMMENT, sources_of
from eas.support.location import SourceName
from eas.support.records import frozen

FOLDER = "__metal__"
_HOW_TO_WRITE = "`pytest --update-metal` or `eas snapshot --update` writes it"


class Mismatch(AssertionError):
    """A Metal text differs from the stored one, or there is none."""


def stored_text(compiled: CompiledKernel) -> str:
    """The Metal text as it is stored: `// +3` is the third line after the kernel's `def`.

    A line of another function has its name: `// clamp+1`.

    >>> print(stored_text(relu.compile("*f32", "*f32", "i32", BLOCK=256)))  # doctest: +SKIP
    """
    sources = sources_of(compiled.function)

    def shorten(match: re.Match[str]) -> str:
        found = _place(sources.get(match["file"]), int(match["line"] or 0))
        if found is None:
            return match[0]
        name, line = found
        return f"// {'' if name == compiled.name else name}+{line}"

    return COMMENT.sub(shorten, compiled.msl)


def _place(source: SourceName | None, line: int) -> tuple[str, int] | None:
    """The function around a line, and how many lines after its `def` that is."""
    if source is None:
        return None
    around = [each for each in _functions(tuple(source.lines)) if each.first <= line <= each.last]
    if not around:
        return None
    innermost = max(around, key=lambda each: each.first)
    return innermost.name, line - innermost.first


@frozen
class _Function:
    name: str
    first: int
    last: int


@lru_cache(maxsize=32)
def _functions(lines: tuple[str, ...]) -> Sequence[_Function]:
    text = "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):  # a cell of a notebook, or a file that has changed
        return ()
    return [
        _Function(node.name, node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    ]


def check_file(file: Path, text: str, *, update: bool) -> bool:
    """Compares a text with a file, or writes it; gives whether the file was written.

    Raises a `Mismatch` with the differences.
    """
    stored = file.read_text("utf-8") if file.is_file() else None
    if stored == text:
        return False
    if update:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return True
    if stored is None:
        raise Mismatch(f"{_shown(file)} does not exist; {_HOW_TO_WRITE}")
    changes = difflib.unified_diff(
        stored.splitlines(), text.splitlines(), "stored", "now", lineterm="", n=2
    )
    listed = "\n".join(changes)
    what = f"{_shown(file)} is not what the kernel compiles to; {_HOW_TO_WRITE}"
    raise Mismatch(f"{what}\n{listed}")


def refuse_second(file: Path, text: str, texts: dict[Path, str]) -> None:
    """Raises a `Mismatch` if a file was given another text before: one would replace the other."""
    if texts.setdefault(file, text) != text:
        raise Mismatch(
            f"{_shown(file)} is the text of another kernel, or of other types, in this run; "
            "give one of them a name: `_name=...`"
        )


def file_name(kernel: str, number: int, count: int) -> str:
    """`relu.metal`; of several examples the later ones are numbered, `relu-2.metal`."""
    return f"{kernel}.metal" if count == 1 or number == 1 else f"{kernel}-{number}.metal"


def _shown(file: Path) -> str:
    try:
        return str(file.relative_to(Path.cwd()))
    except ValueError:
        return str(file)
