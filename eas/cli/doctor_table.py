"""The findings of `eas doctor` as a table, or as JSON."""

from __future__ import annotations

import json

from rich.table import Table

from eas.doctor import Finding, examine_machine, has_problem, probe_torch
from eas.support.command_line import lay_out, print_text

_MARKS = {"ok": "", "missing": "-", "wrong": "!"}


def doctor(topic: str | None, *, as_json: bool) -> int:
    """Prints what was found, and returns 0, or 1 if launches cannot run."""
    findings = probe_torch() if topic == "torch" else examine_machine()
    is_wrong = any(f.status != "ok" for f in findings) if topic else has_problem(findings)
    print_text(to_json(findings, is_wrong) if as_json else to_table(findings))
    return int(is_wrong)


def to_table(findings: list[Finding]) -> str:
    table = Table(box=None, pad_edge=False)
    for head in ("", "", "", "found", "why"):
        table.add_column(head, overflow="fold")
    group = ""
    for each in findings:
        head = each.group if each.group != group else ""
        table.add_row(head, _MARKS[each.status], each.name, each.value, each.note)
        group = each.group
    return lay_out(table)


def to_json(findings: list[Finding], is_wrong: bool) -> str:
    """An object with a list for each group."""
    groups: dict[str, list[dict[str, str]]] = {}
    for each in findings:
        row = {"name": each.name, "value": each.value, "status": each.status, "note": each.note}
        groups.setdefault(each.group, []).append(row)
    return json.dumps({"ok": not is_wrong, **groups}, indent=2, ensure_ascii=False)
