"""From a place in compiled code to the line of the text that it comes from: DWARF 4 line tables."""

from __future__ import annotations

import struct
from bisect import bisect_right
from functools import lru_cache
from pathlib import Path

from eas.msl.cxx.python_lines import FILE_NAME
from eas.msl.host.sections import sections
from eas.support.records import field, record

Row = tuple[int, int]


def line_of(library: Path, place: int) -> int:
    """The line of the Metal text at a place, or 0 if the code there is not the text's."""
    rows = _rows(library)
    # The place is where a call returns to: the call itself is before.
    at = bisect_right(rows, (place - 1, 1 << 62)) - 1
    return rows[at][1] if at >= 0 else 0


@lru_cache(maxsize=64)
def _rows(library: Path) -> list[Row]:
    """Places in order, each with the line that holds from there on."""
    file = library.read_bytes()
    found = [section for section in sections(file) if section.name == ".debug_line"]
    rows: list[Row] = []
    for section in found:
        data = file[section.offset : section.offset + section.size]
        at = 0
        while at + 4 <= len(data):
            length = struct.unpack_from("<I", data, at)[0]
            rows += _Program(data[at + 4 : at + 4 + length]).run()
            at += 4 + length
    return sorted(rows)


@record
class _Program:
    """One line-number program, as in section 6.2 of the DWARF 4 standard."""

    data: bytes
    at: int = 0
    address: int = 0
    file: int = 1
    line: int = 1
    rows: list[Row] = field(default_factory=list[Row])

    def run(self) -> list[Row]:
        version, header = struct.unpack_from("<HI", self.data, 0)
        if version != 4:
            return []
        self.step, _, _, base, self.range, self.base = struct.unpack_from("<BBBbBB", self.data, 6)
        self.line_base = base
        lengths = self.data[12 : 12 + self.base - 1]
        self.at = 12 + len(lengths)
        texts = self._files()
        self.own = {number for number, name in enumerate(texts, 1) if name == FILE_NAME}
        self.at = 6 + header
        while self.at < len(self.data):
            self._operation(lengths)
        return self.rows

    def _files(self) -> list[str]:
        while self._text():  # the folders
            pass
        names: list[str] = []
        while name := self._text():
            names.append(name)
            for _ in range(3):
                self._number()
        return names

    def _operation(self, lengths: bytes) -> None:
        code = self.data[self.at]
        self.at += 1
        if code >= self.base:
            self._advance((code - self.base) // self.range)
            self.line += self.line_base + (code - self.base) % self.range
            self._emit()
        elif code == 0:
            self._extended()
        elif code == 1:
            self._emit()
        elif code == 2:
            self._advance(self._number())
        elif code == 3:
            self.line += self._signed()
        elif code == 4:
            self.file = self._number()
        elif code == 8:
            self._advance((255 - self.base) // self.range)
        elif code == 9:
            self.address += struct.unpack_from("<H", self.data, self.at)[0]
            self.at += 2
        else:
            for _ in range(lengths[code - 1]):
                self._number()

    def _extended(self) -> None:
        length = self._number()
        code, rest = self.data[self.at], self.at + 1
        self.at += length
        if code == 1:
            self.rows.append((self.address, 0))
            self.address, self.file, self.line = 0, 1, 1
        elif code == 2:
            self.address = struct.unpack_from("<Q", self.data, rest)[0]

    def _advance(self, operations: int) -> None:
        self.address += operations * self.step

    def _emit(self) -> None:
        self.rows.append((self.address, self.line if self.file in self.own else 0))

    def _text(self) -> str:
        end = self.data.index(b"\0", self.at)
        text = self.data[self.at : end].decode()
        self.at = end + 1
        return text

    def _number(self) -> int:
        result = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            result |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return result

    def _signed(self) -> int:
        start = self.at
        result = self._number()
        bits = 7 * (self.at - start)
        return result - (1 << bits) if result >> (bits - 1) else result
