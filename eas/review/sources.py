"""The Python behind a kernel: its function, and the helpers that its texts name."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from eas.msl.cxx.python_lines import PythonPlace, places_behind
from eas.support.escapes import escape
from eas.support.records import frozen

_DEFINITION = re.compile(r"^[ \t]*(?:async )?def (\w+)", re.MULTILINE)
_IR_FILE = re.compile(r'^[^\n]*\) from "([^"\n]*)"', re.MULTILINE)
_IR_PLACE = re.compile(r"@(?:(?P<file>[^\s:@]+):)?(?P<line>\d+):\d+-")


@frozen(eq=False)
class PythonPart:
    """A function as it is written: `lines` from the line `first` of a file on, `head` its `def`."""

    name: str
    file: str
    first: int
    head: int
    lines: Sequence[str]

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1


@frozen(eq=False)
class _Definition:
    name: str
    first: int
    head: int
    last: int
    is_kernel: bool


class Sources:
    """The Python files of a tree."""

    def __init__(self, folder: Path, files: Sequence[Path]) -> None:
        self._folder = folder
        self._files = files
        self._texts: dict[Path, str] = {}
        self._parsed: dict[Path, Sequence[_Definition]] = {}

    def parts_of(
        self, name: str, metal: str, ir: str, *, near: Path, line: int | None = None
    ) -> list[PythonPart]:
        """The kernel's function, then the helpers that are named in comments of the texts."""
        places = [place for place in places_behind(metal) if place is not None]
        names = {place.name for place in places if not place.is_stored}
        names |= set(_IR_FILE.findall(ir))
        kernel = self._find(name, near, names, line)
        if kernel is None:
            return []
        parts = [kernel]
        for place in dict.fromkeys(places):
            self._add_helper(place, parts, near)
        for match in dict.fromkeys(_IR_PLACE.findall(ir)):
            file = match[0] or (_IR_FILE.findall(ir) or [""])[0]
            self._add_helper(PythonPlace(file, int(match[1]), is_stored=False), parts, near)
        return parts

    def _add_helper(self, place: PythonPlace, parts: list[PythonPart], near: Path) -> None:
        kernel = parts[0]
        if place.is_stored:
            if place.name and all(part.name != place.name for part in parts):
                own = kernel.file.rpartition("/")[2]
                helper = self._find(place.name, near, {own}, None, False)
                parts += [helper] if helper else []
            return
        if any(_covers(part, place) for part in parts):
            return
        same = [f for f in self._files if f.name == place.name]
        own = self._folder / kernel.file
        for file in sorted(same, key=lambda each: each != own)[:1]:
            around = [d for d in self._definitions(file) if d.first <= place.line <= d.last]
            if around:
                parts.append(self._part(file, max(around, key=lambda each: each.first)))

    def _find(
        self, name: str, near: Path, names: set[str], line: int | None, is_kernel: bool = True
    ) -> PythonPart | None:
        """The function of a name that fits best: by its file, and by how near that is."""
        best: tuple[tuple[object, ...], Path, _Definition] | None = None
        for file in self._index.get(name, ()):
            for each in self._definitions(file):
                if each.name != name:
                    continue
                rank = (
                    line is not None and file == near and each.head == line,
                    file == near,
                    each.is_kernel == is_kernel,
                    file.name in names,
                    file.stem == near.stem,
                    _common(file, near),
                    -len(file.parts),
                )
                if best is None or rank > best[0]:
                    best = rank, file, each
        return self._part(best[1], best[2]) if best else None

    def _part(self, file: Path, found: _Definition) -> PythonPart:
        lines = self._text(file).splitlines()[found.first - 1 : found.last]
        path = escape(file.relative_to(self._folder).as_posix())
        return PythonPart(found.name, path, found.first, found.head, lines)

    @cached_property
    def _index(self) -> dict[str, list[Path]]:
        found: dict[str, list[Path]] = {}
        for file in self._files:
            for name in dict.fromkeys(_DEFINITION.findall(self._text(file))):
                found.setdefault(name, []).append(file)
        return found

    def _text(self, file: Path) -> str:
        if file not in self._texts:
            text = file.read_bytes().decode("utf-8", "replace")
            self._texts[file] = text.replace("\r\n", "\n").removeprefix("\ufeff")
        return self._texts[file]

    def _definitions(self, file: Path) -> Sequence[_Definition]:
        if file not in self._parsed:
            self._parsed[file] = _definitions(self._text(file))
        return self._parsed[file]


def _covers(part: PythonPart, place: PythonPlace) -> bool:
    return part.file.rpartition("/")[2] == place.name and part.first <= place.line <= part.last


def _definitions(text: str) -> list[_Definition]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [
        _Definition(
            node.name,
            min([node.lineno, *(each.lineno for each in node.decorator_list)]),
            node.lineno,
            node.end_lineno or node.lineno,
            any("kernel" in ast.unparse(each) for each in node.decorator_list),
        )
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    ]


def _common(one: Path, other: Path) -> int:
    count = 0
    for left, right in zip(one.parts, other.parts, strict=False):
        if left != right:
            break
        count += 1
    return count
