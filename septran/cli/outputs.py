"""Files that a command writes: not those that it reads, and whole or not at all."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from eas.support.command_line import UsageError
from eas.support.whole_files import check_writable, write_whole


def inputs_of(parsed: argparse.Namespace) -> list[str]:
    """The files that a command line names to be read."""
    several = [*getattr(parsed, "mappings", ()), *getattr(parsed, "primitives", ())]
    return [parsed.logic, *several, *([parsed.machine] if parsed.machine else [])]


def check_targets(paths: Sequence[str | None], inputs: Sequence[str]) -> None:
    """Refuses files that cannot be written, before hours of work, and those that are read."""
    given = [path for path in paths if path is not None]
    for number, path in enumerate(given):
        refuse_input(path, inputs)
        if os.path.realpath(path) in map(os.path.realpath, given[:number]):
            raise UsageError(f"{path} is given for two files")
        try:
            check_writable(path)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def refuse_input(path: str, inputs: Sequence[str]) -> None:
    """Refuses to write to a file that is read."""
    if os.path.realpath(path) in map(os.path.realpath, inputs):
        raise UsageError(f"{path} is read by this command: write to another file")


def write_file(path: str, text: str) -> str:
    """Writes a file that was asked for; the answer is a line that says so."""
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    return f"wrote {path}"
