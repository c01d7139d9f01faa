"""Entries in a JSON file that many processes read and write at once.

A writer holds a lock beside the file. It reads what is there, adds its entries, and puts a complete
file in its place: a process that is killed loses its own entries at most. A file that is
no JSON of ours is set aside, not overwritten, and what is no file at all is left alone.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, cast

from eas.support.whole_files import write_whole

Entries = dict[str, dict[str, Any]]

FORMAT = 1


class TuningFileWarning(UserWarning):
    """A file of tuning results that cannot be read or written."""


def read_entries(path: Path) -> Entries:
    """The entries of a file; none if it is missing, and a warning if it is broken."""
    try:
        return _parsed(_read(path))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        _warn(f"{path} is not used: {error}")
        return {}


def add_entries(path: Path, entries: Mapping[str, dict[str, Any]]) -> bool:
    """Adds entries to a file, in place of those with the same keys; False if that fails."""
    try:
        _require_file(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path):
            merged = {**_kept(path), **entries}
            write_whole(path, _printed(merged))
    except OSError as error:
        _warn(f"{path} cannot be written, its results hold for this process only: {error}")
        return False
    return True


def _require_file(path: Path) -> None:
    """Refuses a folder, a pipe and a device, of which some would be waited for."""
    if path.exists() and not path.is_file():
        raise OSError("it is no file")


def _read(path: Path) -> str:
    _require_file(path)
    return path.read_text("utf-8")


def _parsed(text: str) -> Entries:
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(found, dict) or cast(dict[str, Any], found).get("format") != FORMAT:
        raise ValueError(f"it is no tuning file of format {FORMAT}")
    entries = cast(dict[str, Any], found).get("entries")
    if not isinstance(entries, dict):
        raise ValueError("it has no entries")
    pairs = cast(dict[str, Any], entries).items()
    return {key: cast(dict[str, Any], each) for key, each in pairs if isinstance(each, dict)}


def _kept(path: Path) -> Entries:
    """What the file holds. One that is broken goes to another name: somebody may repair it."""
    try:
        return _parsed(_read(path))
    except FileNotFoundError:
        return {}
    except ValueError:
        names = (path.with_name(f"{path.name}.broken{n or ''}") for n in count())
        aside = next(each for each in names if not os.path.lexists(each))
        os.replace(path, aside)
        _warn(f"{path} was no tuning file, and is {aside.name} now")
        return {}


def _printed(entries: Entries) -> bytes:
    text = json.dumps({"format": FORMAT, "entries": entries}, indent=2, sort_keys=True)
    return f"{text}\n".encode()


@contextmanager
def _locked(path: Path) -> Generator[None]:
    """One writer at a time; the system frees the lock of a process that dies."""
    try:
        import fcntl
    except ImportError:  # Windows; there, the last of two simultaneous writers wins
        yield
        return
    with open(path.with_name(f"{path.name}.lock"), "a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _warn(message: str) -> None:
    warnings.warn(message, TuningFileWarning, stacklevel=3)
