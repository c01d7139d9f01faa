"""The sections of a compiled library."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from eas.support.records import frozen


@frozen
class Section:
    """A part of an ELF file: `address` is where it is loaded, counted from the file's start."""

    name: str
    address: int
    offset: int
    size: int


def sections(file: bytes) -> list[Section]:
    """All sections of a 64-bit ELF file; none of a file of another kind."""
    if file[:4] != b"\x7fELF":
        return []
    table = struct.unpack_from("<Q", file, 0x28)[0]
    entry, count, names = struct.unpack_from("<HHH", file, 0x3A)
    raw = list(_entries(file, table, entry, count))
    strings = raw[names].offset
    return [
        Section(_text(file, strings + int(each.name)), each.address, each.offset, each.size)
        for each in raw
    ]


def section_sizes(file: bytes) -> dict[str, int]:
    return {section.name: section.size for section in sections(file)}


def _entries(file: bytes, table: int, entry: int, count: int) -> Iterator[Section]:
    for number in range(count):
        at = table + number * entry
        name, _kind, _flags, address, offset, size = struct.unpack_from("<IIQQQQ", file, at)
        yield Section(str(name), address, offset, size)


def _text(file: bytes, at: int) -> str:
    return file[at : file.index(b"\0", at)].decode()
