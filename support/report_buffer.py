"""The report buffer: what a kernel's faults, asserts and prints leave in it, and how it is read.

| word | what it holds |
|---|---|
| 0 | the number of the site of a failed assert or of a fault, plus 1; 0 if there was none |
| 1 to 4 | that program's index along x, y and z, and the lane; -1 if the lane is not known |
| 5 | how many words there are for records of prints: set by the host, like zeros everywhere else |
| 6 | how many words the records would take |
| 7 | how many records did not fit |
| 8, 9 | the offset or the index of a fault, the lower half first |
| 10, 11 | the extent of the axis that an index does not fit |
| 12 to 15 | words of the backend's own |
| from 16 on | records: the site's number, the program's index along x, y and z, the lane, values |

A value takes a word: an integer of up to 32 bits as such (sign-extended), a float as f32. One of 64
bits takes two, the lower half first. The order of records is that of the lanes' arrival; those of
one lane are in the order of the text. A `Site` says what is reported, and from
where in the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, Protocol

import numpy as np

from eas.support.diagnostics import Diagnostic
from eas.support.faults import AccessKind, Extent, bad_index, outside
from eas.support.location import Loc
from eas.support.records import frozen

Words = np.ndarray[Any, np.dtype[np.uint32]]

HEAD = 16
RECORD_HEAD = 5
ROOM, NEEDED, LOST = 5, 6, 7
ASSERTION = "R0401"


class NumberFormat(Protocol):
    """What the report has to know of the dtype of a printed value; `eas.ir.types.DType` is one."""

    @property
    def bits(self) -> int: ...
    @property
    def is_float(self) -> bool: ...
    @property
    def numpy(self) -> np.dtype[Any]: ...


@frozen
class Site:
    """A place in the source that reports to the host: an `assert`, a `print` or a checked access.

    `parts` are the texts and the formats of the values, in turn; an assert has one text, an access
    or an index the name of its array. `shape` is that of the lanes.
    """

    kind: Literal["assert", "print", "index"] | AccessKind
    parts: tuple[str | NumberFormat, ...]
    loc: Loc
    shape: tuple[int, ...] = ()
    axis: int = 0
    is_masked: bool = False


def words_of(dtype: NumberFormat) -> int:
    """How many words a value takes in a record."""
    return 2 if dtype.bits == 64 else 1


def report_buffer(room: int) -> Words:
    """An empty report with room for so many words of records."""
    words = np.zeros(HEAD + room, np.uint32)
    words[ROOM] = room
    return words


def needed_room(words: Words) -> int:
    """How many words the records would have taken."""
    return int(words[NEEDED])


def lost_records(words: Words) -> int:
    """How many records did not fit."""
    return int(words[LOST])


def failure(
    words: Words,
    sites: Sequence[Site],
    grid: tuple[int, int, int],
    extents: Mapping[str, Extent] = MappingProxyType({}),
    is_threaded: bool = False,
) -> Diagnostic | None:
    """The assert that failed or the fault that was found, if there is one.

    `extents` are those of the arrays, by name; `is_threaded` says that the lanes are threads.
    """
    if words[0] == 0:
        return None
    site = sites[int(words[0]) - 1]
    place = _place(words, site, grid, "thread" if is_threaded else "lane")
    value, length = map(int, words[8:12].view(np.int64))
    name = str(site.parts[0])
    match site.kind:
        case "read" | "written" | "updated":
            return outside(site.kind, extents[name], value, site.loc, place, site.is_masked)
        case "index":
            return bad_index(name, site.axis, value, length, site.loc, place)
        case _:
            message = f"assertion failed: {name}" if name else "assertion failed"
            return Diagnostic(ASSERTION, message, site.loc, "false here", notes=(place,))


def _place(words: Words, site: Site, grid: tuple[int, int, int], word: str) -> str:
    x, y, z, lane = (int(each) for each in words[1:5].view(np.int32))
    program = describe_program((x, y, z), grid)
    if lane < 0 or (site.kind != "assert" and not site.shape):
        return program
    index = tuple(map(int, np.unravel_index(lane, site.shape))) if site.shape else (lane,)
    return f"{program}, {word} {index[0] if len(index) == 1 else index}"


def describe_program(place: tuple[int, int, int], grid: tuple[int, int, int]) -> str:
    """Which program of a grid: `program 3 of a grid of 4`."""
    rank = max((i for i, extent in enumerate(grid, 1) if extent > 1), default=1)
    if rank == 1:
        return f"program {place[0]} of a grid of {grid[0]}"
    return f"program {place[:rank]} of a grid of {grid[:rank]}"


@frozen
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


def _value(words: Words, dtype: NumberFormat) -> object:
    if dtype.is_float:
        wide = np.float64 if len(words) == 2 else np.float32
        return words.view(wide).astype(dtype.numpy)[0]
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
