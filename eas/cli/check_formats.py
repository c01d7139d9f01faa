"""What `eas check` prints: for people, for programs, for GitHub."""

from __future__ import annotations

import importlib.metadata
import json
import linecache
import os
from collections.abc import Callable, Sequence
from typing import Any
from urllib.request import pathname2url

from eas.analysis.results import DiagnosticRecord, FileRecord, KernelRecord, Place
from eas.cli.explain import read_pages, title_of

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_text(files: Sequence[FileRecord], diagnostics: Sequence[DiagnosticRecord]) -> str:
    """The diagnostics as the compiler prints them, and a last line that counts."""
    blocks = [each["text"] for each in diagnostics]
    lacking = [
        f"note: {shown_path(file['path'])} is not imported: `{file['missing']}` is not installed"
        for file in files
        if file["missing"]
    ]
    if lacking:
        blocks.append("\n".join(lacking))
    partly = [
        f"{shown_path(file['path'])}:{kernel['line']}: {_in_part(kernel)}"
        for file in files
        for kernel in file["kernels"]
        if kernel["checked"] == "partly"
    ]
    if partly:
        hint = "`@eas.kernel(examples=...)` or annotations give the types, see docs/editors.md"
        blocks.append("\n".join([*(f"note: {line}" for line in partly), f"note: {hint}"]))
    return "\n\n".join([*blocks, summary(files, diagnostics)])


def _in_part(kernel: KernelRecord) -> str:
    names = ", ".join(f"`{name}`" for name in kernel["unknown"]) or "values that it uses"
    return f"kernel `{kernel['name']}` is checked in part: nothing is known of {names}"


def summary(files: Sequence[FileRecord], diagnostics: Sequence[DiagnosticRecord]) -> str:
    """`2 errors in 3 kernels of 1 file`."""
    kernels = sum(len(file["kernels"]) for file in files)
    parts = [(len(diagnostics), "error"), (kernels, "kernel"), (len(files), "file")]
    errors, in_kernels, of_files = (f"{n} {word}{'' if n == 1 else 's'}" for n, word in parts)
    return f"{errors if diagnostics else 'no errors'} in {in_kernels} of {of_files}"


def as_json(files: Sequence[FileRecord], diagnostics: Sequence[DiagnosticRecord]) -> str:
    """One object: the kernels of each file, the diagnostics, a summary."""
    document = {
        "version": 1,
        "files": [{"path": shown_path(file["path"]), "kernels": file["kernels"]} for file in files],
        "diagnostics": [
            {name: _relative(value) for name, value in each.items() if name != "text"}
            for each in diagnostics
        ],
        "summary": {
            "errors": len(diagnostics),
            "kernels": sum(len(file["kernels"]) for file in files),
            "files": len(files),
        },
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _relative(value: Any) -> Any:
    """With paths as the user would type them."""
    if isinstance(value, list):
        return [_relative(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(value, dict):
        return value
    pairs: Any = value.items()  # pyright: ignore[reportUnknownVariableType,reportUnknownMemberType]
    return {name: shown_path(e) if name == "path" else _relative(e) for name, e in pairs}


def shown_path(path: str) -> str:
    """A path from the current folder, if the file is below it."""
    return path.removeprefix(os.path.join(os.getcwd(), ""))


def as_github(files: Sequence[FileRecord], diagnostics: Sequence[DiagnosticRecord]) -> str:
    """Commands of a workflow, which GitHub shows beside the lines of a pull request.

    It counts columns from 1 in UTF-16 units, and takes them for places on one line only.
    """
    return "\n".join([*map(_command, diagnostics), summary(files, diagnostics)])


def _command(record: DiagnosticRecord) -> str:
    place = in_utf16(record["place"])
    fields: dict[str, object] = {
        "title": f"easy_as ({record['code']})",
        "file": shown_path(place["path"]).replace(os.sep, "/"),
        "line": place["line"],
        "endLine": place["endLine"],
    }
    if place["line"] == place["endLine"]:
        fields |= {"col": place["column"], "endColumn": place["endColumn"]}
    given = ",".join(f"{name}={_property(str(value))}" for name, value in fields.items())
    return f"::{record['severity']} {given}::{_data(_message(record))}"


def _message(record: DiagnosticRecord) -> str:
    notes = [f"note: {each}" for each in record["notes"]]
    helps = [f"help: {each}" for each in record["help"]]
    label = [record["label"]] if record["label"] else []
    return "\n".join([record["message"], *label, *notes, *helps])


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def in_utf16(place: Place) -> Place:
    """The same place with columns that count UTF-16 units, as JavaScript does."""
    lines = linecache.getlines(place["path"])
    return {
        **place,
        "column": _utf16(lines, place["line"], place["column"]),
        "endColumn": _utf16(lines, place["endLine"], place["endColumn"]),
    }


def _utf16(lines: Sequence[str], line: int, column: int) -> int:
    text = lines[line - 1] if line <= len(lines) else ""
    before = text[: column - 1]
    missing = column - 1 - len(before)
    return 1 + len(before.encode("utf-16-le")) // 2 + missing


def as_sarif(files: Sequence[FileRecord], diagnostics: Sequence[DiagnosticRecord]) -> str:
    """A log of SARIF 2.1.0, for code scanning. Columns count UTF-16 units, as the log says."""
    pages = read_pages()
    codes = sorted({each["code"] for each in diagnostics})
    run = {
        "tool": {
            "driver": {
                "name": "easy_as",
                "version": importlib.metadata.version("easy_as"),
                "rules": [_rule(code, pages) for code in codes],
            }
        },
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {"ROOT": {"uri": _uri(os.getcwd()) + "/"}},
        "artifacts": [{"location": _artifact(file["path"])} for file in files],
        "results": [_result(each, codes) for each in diagnostics],
    }
    return json.dumps(
        {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False
    )


def _rule(code: str, pages: dict[str, str]) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": code}
    if code in pages:
        rule["shortDescription"] = {"text": title_of(pages[code])}
        rule["help"] = {"text": pages[code], "markdown": pages[code]}
    return rule


def _result(record: DiagnosticRecord, codes: list[str]) -> dict[str, Any]:
    related = [(each["place"], each["message"]) for each in record["related"]]
    related += [(each, "called from here") for each in record["calls"]]
    result: dict[str, Any] = {
        "ruleId": record["code"],
        "ruleIndex": codes.index(record["code"]),
        "level": record["severity"],
        "message": {"text": _message(record)},
        "locations": [{"physicalLocation": _physical(record["place"])}],
    }
    if related:
        result["relatedLocations"] = [
            {"id": number, "physicalLocation": _physical(place), "message": {"text": text}}
            for number, (place, text) in enumerate(related, 1)
        ]
    if record["fixes"]:
        result["fixes"] = [_fix(each) for each in record["fixes"]]
    return result


def _fix(fix: Any) -> dict[str, Any]:
    by_path: dict[str, list[dict[str, Any]]] = {}
    for edit in fix["edits"]:
        replacement = {
            "deletedRegion": _region(edit["place"]),
            "insertedContent": {"text": edit["text"]},
        }
        by_path.setdefault(edit["place"]["path"], []).append(replacement)
    return {
        "description": {"text": fix["title"]},
        "artifactChanges": [
            {"artifactLocation": _artifact(path), "replacements": replacements}
            for path, replacements in by_path.items()
        ],
    }


def _physical(place: Place) -> dict[str, Any]:
    return {"artifactLocation": _artifact(place["path"]), "region": _region(place)}


def _region(place: Place) -> dict[str, int]:
    place = in_utf16(place)
    return {
        "startLine": place["line"],
        "startColumn": place["column"],
        "endLine": place["endLine"],
        "endColumn": place["endColumn"],
    }


def _artifact(path: str) -> dict[str, str]:
    shown = shown_path(os.path.abspath(path))
    if os.path.isabs(shown):
        return {"uri": _uri(shown)}
    return {"uri": pathname2url(shown), "uriBaseId": "ROOT"}


def _uri(path: str) -> str:
    return "file://" + pathname2url(path)


Format = Callable[[Sequence[FileRecord], Sequence[DiagnosticRecord]], str]

FORMATS: dict[str, Format] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
}
