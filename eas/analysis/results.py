"""What an analysis gives, as data that goes through a pipe: the JSON of `eas check`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypedDict

from eas.support.diagnostics import Diagnostic, Fix, render
from eas.support.location import Loc


class Place(TypedDict):
    """A range of characters in a file. Lines and columns count from 1, the end is exclusive."""

    path: str
    line: int
    column: int
    endLine: int
    endColumn: int


class Related(TypedDict):
    """A remark on another place."""

    place: Place
    message: str


class EditRecord(TypedDict):
    """The text of a place is replaced."""

    place: Place
    text: str


class FixRecord(TypedDict):
    """A help as edits, which are made at once."""

    title: str
    edits: list[EditRecord]


class DiagnosticRecord(TypedDict):
    """One error. `text` is what a terminal shows."""

    code: str
    severity: str
    message: str
    place: Place
    label: str
    related: list[Related]
    calls: list[Place]
    notes: list[str]
    help: list[str]
    fixes: list[FixRecord]
    kernels: list[str]
    text: str


class KernelRecord(TypedDict):
    """One kernel. `checked` says by what its types are known, `unknown` which are not."""

    name: str
    line: int
    endLine: int
    checked: str
    signatures: list[str]
    unknown: list[str]


class NameRecord(TypedDict):
    """A name or an attribute in a kernel: what it is, and where it is defined."""

    place: Place
    text: str
    isAssigned: bool
    definition: Place | None


class FileRecord(TypedDict):
    """All that is found in a file. `missing` is an optional module that it lacks."""

    path: str
    kernels: list[KernelRecord]
    diagnostics: list[DiagnosticRecord]
    names: list[NameRecord]
    output: str
    missing: str


class TextRecord(TypedDict):
    """What a kernel compiles to for a signature; `error` says why it does not."""

    name: str
    line: int
    signature: str
    metal: str
    ir: str
    error: str


def place_of(loc: Loc) -> Place:
    """A place as tools count: columns from 1 on."""
    return {
        "path": loc.source.path or loc.source.name,
        "line": max(loc.line, 1),
        "column": loc.column + 1,
        "endLine": max(loc.end_line, 1),
        "endColumn": loc.end_column + 1,
    }


def record_of(
    diagnostic: Diagnostic, kernel: str = "", *, color: bool = False, with_text: bool = True
) -> DiagnosticRecord:
    """A diagnostic as data; what a terminal shows of it is rendered here, where the source is."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "place": place_of(diagnostic.loc),
        "label": diagnostic.label,
        "related": [
            {"place": place_of(each.loc), "message": each.text} for each in diagnostic.secondary
        ],
        "calls": [place_of(each) for each in diagnostic.loc.chain[1:]],
        "notes": list(diagnostic.notes),
        "help": list(diagnostic.help),
        "fixes": [_fix(each) for each in diagnostic.fixes],
        "kernels": [kernel] if kernel else [],
        "text": render(diagnostic, color) if with_text else "",
    }


def _fix(fix: Fix) -> FixRecord:
    return {
        "title": fix.help,
        "edits": [{"place": place_of(each.loc), "text": each.text} for each in fix.edits],
    }


def merged(records: Iterable[DiagnosticRecord]) -> list[DiagnosticRecord]:
    """The records in the order of the text; one that several kernels have is there once."""
    found: dict[tuple[object, ...], DiagnosticRecord] = {}
    for each in records:
        key = (each["code"], each["message"], *each["place"].values())
        first = found.setdefault(key, each)
        first["kernels"] = list(dict.fromkeys([*first["kernels"], *each["kernels"]]))
    return sorted(found.values(), key=_order)


def joined(
    failures: Iterable[DiagnosticRecord], found: Iterable[DiagnosticRecord]
) -> list[DiagnosticRecord]:
    """The findings of an import and of an analysis, without duplicates."""
    failed = list(failures)

    def is_known(record: DiagnosticRecord) -> bool:
        line, message = record["place"]["line"], record["message"]
        return any(e["place"]["line"] == line and e["message"].endswith(message) for e in failed)

    return merged([*failed, *(each for each in found if not is_known(each))])


def _order(record: DiagnosticRecord) -> tuple[str, int, int]:
    place = record["place"]
    return os.path.abspath(place["path"]), place["line"], place["column"]
