"""The passes of the targets, as a table: `eas passes`."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from eas.support.command_line import lay_out
from eas.targets import TARGETS, pipelines_of

Row = tuple[str, str, str, str]


def passes(target: str | None) -> str:
    """The table of the passes of a target, or of all."""
    table = Table("target", "", "pass", "why it stands there", box=None, pad_edge=False)
    for row in rows(target):
        table.add_row(*row)
    return lay_out(table)


def rows(target: str | None = None) -> list[Row]:
    """Target, number, name and reason of each pass; those of all targets come first."""
    chosen = TARGETS if target is None else (target,)
    return list(dict.fromkeys(row for each in chosen for row in _rows_of(each)))


def _rows_of(target: str) -> Iterator[Row]:
    for pipeline in pipelines_of(target):
        for number, each in enumerate(pipeline.passes, pipeline.first):
            yield pipeline.name, str(number), each.name, each.reason
