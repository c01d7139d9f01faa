"""What a kernel's asserts and prints have left in the report buffer, in words.

The buffer's layout is described in `eas.msl.reports`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eas.ir.diagnostics import Diagnostic
from eas.ir.types import DType
from eas.msl.reports import RECORD_HEAD, words_of
from eas.msl.sites import Site

Words = np.ndarray[Any, np.dtype[np.uint32]]

HEAD = 8
ROOM, NEEDED = 5, 6
ASSERTION = "R0401"


def report_buffer(room: int) -> Words:
    """An empty report with room for so many words of records."""
    words = np.zeros(HEAD + room, np.uint32)
    words[ROOM] = room
    return words


def needed_room(words: Words) -> int:
    """How many words the records would have taken."""
    return int(words[NEEDED])


def failure(words: Words, sites: Sequence[Site], grid: tuple[int, int, int]) -> Diagnostic | None:
    """The assert that failed first, if any did."""
    if words[0] == 0:
        return None
    site = sites[int(words[0]) - 1]
    text = str(site.parts[0])
    message = f"assertion failed: {text}" if text else "assertion failed"
    x, y, z, lane = (int(word) for word in words[1:5])
    place = f"{tell_program((x, y, z), grid)}, lane {lane}"
    return Diagnostic(ASSERTION, message, site.loc, "false here", notes=(place,))


def tell_program(place: tuple[int, int, int], grid: tuple[int, int, int]) -> str:
    """Which program of a grid: `program 3 of a grid of 4`."""
    rank = max((i for i, extent in enumerate(grid, 1) if extent > 1), default=1)
    if rank == 1:
        return f"program {place[0]} of a grid of {grid[0]}"
    return f"program {place[:rank]} of a grid of {grid[:rank]}"


# --- prints -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Record:
    program: tuple[int, int, int]
    lane: int
    site: int
    line: str


def printed(words: Words, sites: Sequence[Site]) -> list[str]:
    """The lines of all prints, program by program, lanes in step."""
    programs: dict[tuple[int, int, int], list[_Record]] = {}
    for record in _records(words, sites):
        x, y, z = record.program
        programs.setdefault((z, y, x), []).append(record)
    return [line for key in sorted(programs) for line in _in_step(programs[key])]


def _records(words: Words, sites: Sequence[Site]) -> Iterator[_Record]:
    at, end = HEAD, HEAD + min(int(words[ROOM]), int(words[NEEDED]))
    while at + RECORD_HEAD <= end:
        number, x, y, z, lane = (int(word) for word in words[at : at + RECORD_HEAD])
        at += RECORD_HEAD
        line = ""
        for part in sites[number].parts:
            if isinstance(part, str):
                line += part
            else:
                line += str(_value(words[at : at + words_of(part)], part))
                at += words_of(part)
        yield _Record((x, y, z), lane, number, line)


def _value(words: Words, dtype: DType) -> object:
    if dtype.is_float:
        return words.view(np.float32).astype(dtype.numpy)[0]
    wide = words.view(np.int64) if len(words) == 2 else words.view(np.int32)
    return wide.astype(dtype.numpy)[0]


def _in_step(records: Sequence[_Record]) -> Iterator[str]:
    """Each lane's lines in their order, and of those that could be next the first in the text."""
    lanes: dict[int, list[_Record]] = {}
    for record in reversed(records):
        lanes.setdefault(record.lane, []).append(record)
    while lanes:
        site = min(waiting[-1].site for waiting in lanes.values())
        for lane in sorted(lanes):
            if lanes[lane][-1].site == site:
                yield lanes[lane].pop().line
        lanes = {lane: waiting for lane, waiting in lanes.items() if waiting}
