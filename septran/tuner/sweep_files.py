"""Sweeps in files: a line of JSON about the whole, and one for each candidate, compressed."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eas.septran.tuner.space import Chosen
from eas.septran.tuner.work import Work, from_data, to_data
from eas.support.command_line import UsageError
from eas.support.records import frozen
from eas.support.whole_files import write_whole
from eas.tuning.outcomes import Outcome, Status

FORMAT = "septran.sweep/1"
_TICK = 1e-9  # seconds: samples are whole numbers of it, of which four digits are kept
_WRONG = (ValueError, KeyError, TypeError, AttributeError, zlib.error)  # what a wrong file raises


@frozen
class Measured:
    """A candidate of a sweep: its values, what it does, and what came of it if it was tried."""

    values: dict[str, Chosen]
    work: tuple[Work, ...]
    outcome: Outcome | None = None


@frozen
class Recorded:
    """A sweep as it was recorded, with its origin."""

    title: str
    fingerprint: str
    computer: str
    version: str
    machine: dict[str, Any]
    keys: tuple[str, ...]
    rows: tuple[Measured, ...] = ()


def write_sweep(path: Path, sweep: Recorded) -> None:
    """Writes a sweep; a file that is there is replaced at once, by a complete one."""
    head = {
        "format": FORMAT,
        "title": sweep.title,
        "fingerprint": sweep.fingerprint,
        "computer": sweep.computer,
        "version": sweep.version,
        "machine": sweep.machine,
        "keys": sweep.keys,
    }
    lines = [head, *(_row(sweep, each) for each in sweep.rows)]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    try:
        write_whole(path, gzip.compress(text.encode(), mtime=0))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def _row(sweep: Recorded, row: Measured) -> list[Any]:
    chosen = [row.values[key] for key in sweep.keys]
    if row.outcome is None:
        return [chosen, to_data(row.work)]
    samples = [round(float(f"{each:.4g}") / _TICK) for each in row.outcome.samples]
    return [chosen, to_data(row.work), row.outcome.status, samples, row.outcome.reason]


def is_sweep(path: Path) -> bool:
    """Whether a file is compressed, as sweeps are."""
    try:
        with path.open("rb") as file:
            return file.read(2) == b"\x1f\x8b"
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def read_sweep(path: Path) -> Recorded:
    """A sweep from its file; raises `UsageError` if it is none."""
    try:
        head, *rows = map(json.loads, gzip.decompress(path.read_bytes()).decode().splitlines())
        if head.pop("format") != FORMAT:
            raise ValueError("another format")
        keys = tuple(head.pop("keys"))
        return Recorded(**head, keys=keys, rows=tuple(_measured(keys, *row) for row in rows))
    except (gzip.BadGzipFile, EOFError, *_WRONG) as error:
        raise UsageError(f"{path} is no sweep of the format {FORMAT}") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def _measured(
    keys: tuple[str, ...],
    chosen: list[Chosen],
    work: list[Any],
    status: Status | None = None,
    samples: Sequence[int] = (),
    reason: str = "",
) -> Measured:
    values = dict(zip(keys, chosen, strict=True))
    if status is None:
        return Measured(values, from_data(work))
    outcome = Outcome(status, reason, tuple(each * _TICK for each in samples))
    return Measured(values, from_data(work), outcome)
