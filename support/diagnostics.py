"""Diagnostics as data, and the one place where they become text."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Literal, Protocol

from eas.support.location import Loc, SourceName
from eas.support.records import frozen, replace

Severity = Literal["error", "warning", "note"]


@frozen
class Label:
    """A remark on a second place that has to do with the error."""

    loc: Loc
    text: str


@frozen
class Edit:
    """A change of the source: the text of a place is replaced."""

    loc: Loc
    text: str


@frozen
class Fix:
    """A help that is an edit, so that a tool can follow it. The edits are made at once."""

    help: str
    edits: tuple[Edit, ...]


@frozen
class Diagnostic:
    """One error, warning or note: what is wrong, where, and what to do about it.

    `fixes` are those of the `help` that are edits of the source.
    """

    code: str
    message: str
    loc: Loc
    label: str = ""
    secondary: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: tuple[str, ...] = ()
    severity: Severity = "error"
    fixes: tuple[Fix, ...] = ()


def render(diagnostic: Diagnostic, color: bool = False) -> str:
    """The diagnostic as text: message, source with carets, calls that led there, notes, help."""
    excerpts = _excerpts(diagnostic)
    digits = max((excerpt.digits for excerpt in excerpts), default=1)
    rows = [_header(diagnostic)]
    for excerpt in excerpts:
        rows += excerpt.rows(digits)
    for kind, texts in (("note", diagnostic.notes), ("help", diagnostic.help)):
        for text in texts:
            rows += _remark(kind, text, digits)
    return "\n".join(row.render(color) for row in rows)


class Terminal(Protocol):
    def isatty(self) -> bool: ...


def use_color(stream: Terminal | None) -> bool:
    """Whether to write colour: `NO_COLOR` and `FORCE_COLOR` decide, else the kind of stream."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    if stream is None:  # a process without a console
        return False
    return stream.isatty() and os.environ.get("TERM") != "dumb"


_ANSI = {
    "": "",
    "bold": "\x1b[1m",
    "frame": "\x1b[1;34m",
    "secondary": "\x1b[1;34m",
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "note": "\x1b[1;36m",
    "help": "\x1b[1;32m",
}
_RESET = "\x1b[0m"
_TAB = 4


class _Row:
    """A line of output, one cell per terminal column: a later mark covers an earlier one."""

    def __init__(self) -> None:
        self.cells: list[tuple[str, str]] = []

    def put(self, column: int, text: str, style: str = "") -> int:
        """Write `text` from `column` on and return the column after it."""
        for cell in _lay_out(text)[0]:
            self.cells += [(" ", "")] * (column + 1 - len(self.cells))
            self.cells[column] = (cell, style)
            column += 1
        return column

    def render(self, color: bool) -> str:
        if not color:
            return "".join(text for text, _ in self.cells).rstrip()
        parts: list[str] = []
        current = ""
        for text, style in self.cells:
            if style != current:
                parts.append((_RESET if current else "") + _ANSI[style])
                current = style
            parts.append(text)
        return "".join(parts).rstrip() + (_RESET if current else "")


def _lay_out(text: str) -> tuple[list[str], list[int]]:
    """The text cut into terminal columns, and the column of each character and of the end.

    The second column of a wide character is empty; a combining one shares the column before it.
    """
    cells: list[str] = []
    columns: list[int] = []
    for character in text:
        width = _TAB - len(cells) % _TAB if character == "\t" else _width(character)
        if width == 0 and cells:
            owner = len(cells) - (1 if cells[-1] else 2)
            columns.append(owner)
            cells[owner] += character
        else:
            columns.append(len(cells))
            cells += [" "] * width if character == "\t" else [_visible(character), ""][: width or 1]
    return cells, [*columns, len(cells)]


def _width(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.category(character) in ("Mn", "Me") or character in "\u200b\u200c\u200d":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _visible(character: str) -> str:
    """Control and direction characters would move the caret or reorder the line.

    Half characters (Cs), which stand for the bytes of a file's name that is no UTF-8, have no
    encoding.
    """
    kind = unicodedata.category(character)
    hidden = kind in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in "\u200b\u200c\u200d"
    return "\N{REPLACEMENT CHARACTER}" if hidden else character


def _header(diagnostic: Diagnostic) -> _Row:
    row = _Row()
    code = f"[{diagnostic.code}]" if diagnostic.code else ""
    column = row.put(0, diagnostic.severity + code, diagnostic.severity)
    row.put(column, f": {diagnostic.message}", "bold")
    return row


def _remark(kind: str, text: str, digits: int) -> Iterator[_Row]:
    first, *rest = text.splitlines() or [""]
    row = _Row()
    row.put(digits + 1, "=", "frame")
    column = row.put(digits + 3, kind, "bold")
    row.put(column, f": {first}")
    yield row
    for line in rest:
        row = _Row()
        row.put(column + 2, line)
        yield row


@frozen
class _Mark:
    """A span to underline. `pen` is the character and names the style."""

    loc: Loc
    text: str
    pen: str
    style: str

    @property
    def is_tall(self) -> bool:
        return self.loc.end_line > self.loc.line


def _excerpts(diagnostic: Diagnostic) -> list[_Excerpt | _Folded]:
    """The primary place with the remarks in the same file, remarks in other files, the calls."""
    if diagnostic.loc.line == 0:
        return []
    primary = _Mark(diagnostic.loc, diagnostic.label, "^", diagnostic.severity)
    by_source: dict[SourceName, list[_Mark]] = {diagnostic.loc.source: [primary]}
    for label in diagnostic.secondary:
        mark = _Mark(label.loc, label.text, "-", "secondary")
        by_source.setdefault(label.loc.source, []).append(mark)
    excerpts: list[_Excerpt | _Folded] = [
        _Excerpt("::: " if position else "--> ", tuple(marks))
        for position, marks in enumerate(by_source.values())
    ]
    for call in _fold_calls(diagnostic.loc.chain[1:]):
        if isinstance(call, _Folded):
            excerpts.append(call)
        else:
            mark = _Mark(call, "called from here", "-", "secondary")
            excerpts.append(_Excerpt("::: ", (mark,)))
    return excerpts


@frozen
class _Folded:
    """Calls that are not shown."""

    sites: tuple[Loc, ...]

    digits = 1

    def rows(self, digits: int) -> list[_Row]:
        count = len(self.sites)
        text = "... 1 more call" if count == 1 else f"... {count} more calls"
        if count > 1 and len(set(self.sites)) == 1:
            text += " like this"
        row = _Row()
        row.put(digits + 1, text, "frame")
        return [row]


_SHOWN_CALLS = 4


def _fold_calls(calls: Sequence[Loc]) -> list[Loc | _Folded]:
    """Each call site once, the repetitions counted; of many different ones the first and last."""
    sites = [replace(call, caller=None) for call in calls]
    first = [sites.index(site) for site in dict.fromkeys(sites)]
    shown = {*first[:_SHOWN_CALLS], *first[-_SHOWN_CALLS:]}
    folded: list[Loc | _Folded] = []
    for is_shown, run in groupby(range(len(sites)), shown.__contains__):
        group = [sites[index] for index in run]
        folded += group if is_shown else [_Folded(tuple(group))]
    return folded


@frozen
class _Excerpt:
    """Lines of one file with marks below them; the first mark gives the place in the heading."""

    arrow: str
    marks: tuple[_Mark, ...]

    @property
    def digits(self) -> int:
        return len(str(max(mark.loc.end_line for mark in self.marks)))

    def rows(self, digits: int) -> list[_Row]:
        place = self.marks[0].loc
        heading = _Row()
        column = heading.put(digits, self.arrow, "frame")
        name = _shown_path(place.source)
        heading.put(column, f"{name}:{place.line}:{place.column + 1}")
        lines = place.source.lines
        if any(mark.loc.end_line > len(lines) for mark in self.marks):
            return [heading, *_remarks_without_source(self.marks, digits)]
        bar = _Row()
        bar.put(digits + 1, "|", "frame")
        return [heading, bar, *_Page(lines, self.marks, digits).rows()]


def _remarks_without_source(marks: Iterable[_Mark], digits: int) -> Iterator[_Row]:
    for mark in marks:
        if mark.text:
            yield from _remark("note", f"line {mark.loc.line}: {mark.text}", digits)


def _shown_path(source: SourceName) -> str:
    """The path as the user would type it; a notebook cell or a vanished file has its name only."""
    if not os.path.isfile(source.path):
        return source.name
    here = os.path.join(os.getcwd(), "")
    return source.path.removeprefix(here)


class _Page:
    """Source lines and the marks below them.

    A span of several lines has a rail at the left of the text, the outermost span the first.
    """

    def __init__(self, lines: Sequence[str], marks: Sequence[_Mark], digits: int) -> None:
        self.lines = lines
        self.digits = digits
        self.short = [mark for mark in marks if not mark.is_tall]
        left = digits + 3
        slots = _assign_slots([mark for mark in marks if mark.is_tall])
        self.rails = {mark: left + 2 * slot for mark, slot in slots.items()}
        self.margin = max(self.rails.values(), default=left - 2) + 2

    def rows(self) -> Iterator[_Row]:
        previous = 0
        for number in _shown_lines([*self.short, *self.rails]):
            if previous and number > previous + 1:
                gap = _Row()
                gap.put(self.digits + 1, "...", "frame")
                yield gap
            yield self._source_row(number)
            yield from self._rows_below(number)
            previous = number

    def _source_row(self, number: int) -> _Row:
        row = _Row()
        row.put(0, f"{number:>{self.digits}} |", "frame")
        for mark, rail in self.rails.items():
            if mark.loc.line == number and self._is_flush(mark):
                row.put(rail, "/", mark.style)
            elif mark.loc.line < number <= mark.loc.end_line:
                row.put(rail, "|", mark.style)
        row.put(self.margin, self._shown(number))
        return row

    def _rows_below(self, number: int) -> Iterator[_Row]:
        rails = {
            mark: rail
            for mark, rail in self.rails.items()
            if mark.loc.line < number <= mark.loc.end_line
            or (mark.loc.line == number and self._is_flush(mark))
        }
        yield from self._short_rows([m for m in self.short if m.loc.line == number], rails)
        for mark, rail in self.rails.items():
            if mark.loc.line == number and mark not in rails:
                yield self._corner(mark, self._column(number, mark.loc.column), rails)
                rails[mark] = rail
        for mark in reversed(self.rails):
            if mark.loc.end_line == number:
                column = self._column(number, max(mark.loc.end_column - 1, 0))
                row = self._corner(mark, column, rails)
                row.put(column + 2, mark.text, mark.style)
                yield row
                del rails[mark]

    def _short_rows(self, marks: list[_Mark], rails: dict[_Mark, int]) -> Iterator[_Row]:
        """The underlines with the rightmost label beside them, the other labels hung below."""
        if not marks:
            return
        spans = {mark: self._span(mark) for mark in marks}
        underline = self._bar_row(rails)
        for mark in sorted(marks, key=lambda m: (spans[m][0] - spans[m][1], m.pen == "^")):
            start, end = spans[mark]  # short spans over long ones, so that both are seen
            underline.put(start, mark.pen * (end - start), mark.style)
        last = max(marks, key=lambda m: (spans[m][0], m.pen == "^"))
        if spans[last][1] == max(end for _, end in spans.values()):
            underline.put(spans[last][1] + 1, last.text, last.style)
            spans.pop(last)
        yield underline
        yield from self._hanging_rows({m: spans[m][0] for m in spans if m.text}, rails)

    def _hanging_rows(self, labels: dict[_Mark, int], rails: dict[_Mark, int]) -> Iterator[_Row]:
        """Labels on threads below their marks, the rightmost first."""
        hanging = sorted(labels, key=lambda m: labels[m])
        if hanging:
            yield self._bar_row(rails | labels)
        while hanging:
            mark = hanging.pop()
            row = self._bar_row(rails | {m: labels[m] for m in hanging})
            row.put(labels[mark], mark.text, mark.style)
            yield row

    def _corner(self, mark: _Mark, column: int, rails: dict[_Mark, int]) -> _Row:
        """The row that leads from a rail to the first or last character of its span."""
        row = self._bar_row(rails)
        start = self.rails[mark] + 1
        row.put(start, "_" * (column - start) + mark.pen, mark.style)
        return row

    def _bar_row(self, rails: dict[_Mark, int]) -> _Row:
        row = _Row()
        row.put(self.digits + 1, "|", "frame")
        for mark, rail in rails.items():
            row.put(rail, "|", mark.style)
        return row

    def _text(self, number: int) -> str:
        return self.lines[number - 1].rstrip("\r\n")

    def _is_flush(self, mark: _Mark) -> bool:
        """Whether nothing but white space stands before the span."""
        return not self._text(mark.loc.line)[: mark.loc.column].strip()

    def _span(self, mark: _Mark) -> tuple[int, int]:
        start = self._column(mark.loc.line, mark.loc.column)
        return start, max(self._column(mark.loc.line, mark.loc.end_column), start + 1)

    def _column(self, number: int, character: int) -> int:
        start, end = self._window(number)
        columns = _lay_out(self._shown(number))[1]
        place = min(max(character, start), end) - start + len(_CUT) * bool(start)
        return self.margin + columns[min(place, len(columns) - 1)]

    def _shown(self, number: int) -> str:
        """A line of source, cut at both sides if it is long."""
        text = self._text(number)
        start, end = self._window(number)
        return _CUT * bool(start) + text[start:end] + _CUT * (end < len(text))

    def _window(self, number: int) -> tuple[int, int]:
        """The characters of a line that are shown: the first mark is among them."""
        length = len(self._text(number))
        if length <= _MAX_LINE:
            return 0, length
        marks = sorted(self.short, key=lambda mark: mark.pen != "^")
        first = next((m.loc.column for m in marks if m.loc.line == number), 0)
        start = max(0, min(first - _BEFORE_MARK, length - _MAX_LINE))
        return start, min(start + _MAX_LINE, length)


def _assign_slots(marks: Sequence[_Mark]) -> dict[_Mark, int]:
    """A column left of the text for each span of several lines, no two of which cross."""
    slots: dict[_Mark, int] = {}
    for mark in sorted(marks, key=lambda m: (m.loc.line, -m.loc.end_line)):
        taken = {slot for other, slot in slots.items() if other.loc.end_line >= mark.loc.line}
        slots[mark] = min(set(range(len(slots) + 1)) - taken)
    return slots


# Longer lines are cut, so that no terminal wraps them; so many characters stay before a mark.
_MAX_LINE = 120
_BEFORE_MARK = 40
_CUT = "..."

_SHOWN_HEAD = 4
_SHOWN_TAIL = 2


def _shown_lines(marks: Iterable[_Mark]) -> list[int]:
    """The lines with marks; of a long span its head and tail; a gap of one line is filled."""
    shown: set[int] = set()
    for mark in marks:
        lines = range(mark.loc.line, mark.loc.end_line + 1)
        shown.update(lines[:_SHOWN_HEAD], lines[-_SHOWN_TAIL:])
    return sorted(shown | {line + 1 for line in shown if line + 2 in shown})
