"""Object files of Linux on x86-64, linked into this process without LLVM.

Loading LLVM takes longer than everything else of a launch, and cached code does not need it: its
sections are copied into memory next to each other, relocations are applied, and the memory is made
executable. Object files with other features are left to LLVM's linker.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from eas.runtime.cpu.code import Code
from eas.runtime.this_process import address_of, architecture, process

_IS_SUPPORTED = sys.platform == "linux" and architecture() == "x86_64" and sys.maxsize > 2**32

# Names as in the System V ABI and its supplement for x86-64.
_HEADER = struct.Struct("<6s10xHHI8x8xQ4xHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QIIq")
_RELOCATABLE, _X86_64 = 1, 62
_SYMBOLS, _RELOCATIONS, _ZEROS, _RELOCATIONS_WITHOUT_ADDENDS = 2, 4, 8, 9
_UNWINDING = 0x70000001
_WRITABLE, _LOADED, _EXECUTABLE, _PER_THREAD = 0x1, 0x2, 0x4, 0x400
_UNDEFINED, _FIRST_RESERVED = 0, 0xFF00

_ABSOLUTE_64, _RELATIVE_32, _CALL_32, _RELATIVE_64 = 1, 2, 4, 24
_THROUGH_TABLE = (9, 41, 42)

_JUMP = b"\xff\x25"  # jmp [rip + offset]
_STUB_SIZE = 8
_ENTRY_SIZE = 8
_MOST_BYTES = 1 << 28


class LinkError(Exception):
    """An object file that cannot be linked here."""


class _Section(NamedTuple):
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int

    @property
    def is_loaded(self) -> bool:
        return bool(self.flags & _LOADED) and self.kind != _UNWINDING


class _Symbol(NamedTuple):
    name: str
    section: int
    value: int


def link(code: bytes, names: Sequence[str], imported: Mapping[str, int]) -> Code:
    """The functions of these names, in memory.

    `imported` are addresses of symbols that the process may not export.
    """
    if not _IS_SUPPORTED:
        raise LinkError("only LLVM links object files of this machine")
    try:
        return _Link(code, imported).run(names)
    except (struct.error, IndexError, ValueError) as error:
        raise LinkError(f"not a whole object file: {error}") from error


class _Link:
    """Links one object file. Its layout in memory: code, stubs | data, table of addresses."""

    def __init__(self, code: bytes, imported: Mapping[str, int]) -> None:
        self.code = code
        self.imported = imported
        self.sections = _read_sections(code)
        self.symbols = _read_symbols(code, self.sections)
        self.undefined = [
            n for n, s in enumerate(self.symbols) if s.section == _UNDEFINED and s.name
        ]
        self._lay_out()

    def _lay_out(self) -> None:
        self.offsets: dict[int, int] = {}
        end = self._assign_offsets((s.flags & _EXECUTABLE for s in self.sections), 0)
        self.stubs = _rounded(end, _STUB_SIZE)
        self.code_size = _rounded(self.stubs + _STUB_SIZE * len(self.undefined), mmap.PAGESIZE)
        end = self._assign_offsets(
            (not s.flags & _EXECUTABLE for s in self.sections), self.code_size
        )
        self.table = _rounded(end, _ENTRY_SIZE)
        self.size = _rounded(self.table + _ENTRY_SIZE * len(self.symbols), mmap.PAGESIZE)
        if self.size > _MOST_BYTES:
            raise LinkError(f"{self.size} bytes of code")

    def _assign_offsets(self, chosen: Iterable[object], end: int) -> int:
        """Assigns offsets to the chosen sections that are loaded; gives their end."""
        for number, (section, is_chosen) in enumerate(zip(self.sections, chosen, strict=True)):
            if is_chosen and section.is_loaded:
                self.offsets[number] = _rounded(end, max(section.alignment, 1))
                end = self.offsets[number] + section.size
        return end

    def run(self, names: Sequence[str]) -> Code:
        base = _reserve(self.size)
        unload = partial(process().munmap, base, self.size)
        try:
            self._fill(base)
            return Code(self._exported(base, names), unload)
        except BaseException:
            unload()
            raise

    def _fill(self, base: int) -> None:
        image = self._image(base)
        ctypes.memmove(base, bytes(image), self.size)
        _protect(base, self.code_size, mmap.PROT_READ | mmap.PROT_EXEC)
        _protect(base + self.code_size, self.size - self.code_size, mmap.PROT_READ)

    def _exported(self, base: int, names: Sequence[str]) -> dict[str, int]:
        found = {s.name: base + self._address(s) for s in self.symbols if s.section in self.offsets}
        missing = [name for name in names if name not in found]
        if missing:
            raise LinkError(f"there is no {missing[0]}")
        return {name: found[name] for name in names}

    def _image(self, base: int) -> bytearray:
        """The content of the memory if it is at this address."""
        image = bytearray(self.size)
        for number, offset in self.offsets.items():
            section = self.sections[number]
            if section.kind != _ZEROS:
                content = _part(self.code, section.offset, section.size)
                image[offset : offset + section.size] = content
        self._fill_table(image, base)
        for section in self.sections:
            if section.kind == _RELOCATIONS and section.info in self.offsets:
                content = _part(self.code, section.offset, section.size)
                for relocation in _RELOCATION.iter_unpack(content):
                    self._relocate(image, base, self.offsets[section.info], *relocation)
        return image

    def _fill_table(self, image: bytearray, base: int) -> None:
        """Fills in the addresses of all symbols, and stubs that jump to undefined ones."""
        for number, symbol in enumerate(self.symbols):
            if symbol.section in self.offsets:
                address = base + self._address(symbol)
            elif symbol.section == _UNDEFINED and symbol.name:
                address = self.imported.get(symbol.name) or _address_in_process(symbol.name)
            else:
                continue
            struct.pack_into("<Q", image, self._entry(number), address)
        for count, number in enumerate(self.undefined):
            stub = self.stubs + _STUB_SIZE * count
            ahead = self._entry(number) - (stub + len(_JUMP) + 4)
            struct.pack_into("<2si", image, stub, _JUMP, ahead)

    def _relocate(
        self, image: bytearray, base: int, section: int, at: int, kind: int, of: int, addend: int
    ) -> None:
        offset = section + at
        if kind in _THROUGH_TABLE:
            struct.pack_into("<i", image, offset, self._entry(of) + addend - offset)
        elif kind == _CALL_32 and of in self.undefined:
            stub = self.stubs + _STUB_SIZE * self.undefined.index(of)
            struct.pack_into("<i", image, offset, stub + addend - offset)
        elif kind in (_RELATIVE_32, _CALL_32):
            struct.pack_into("<i", image, offset, self._address(self.symbols[of]) + addend - offset)
        elif kind == _RELATIVE_64:
            struct.pack_into("<q", image, offset, self._address(self.symbols[of]) + addend - offset)
        elif kind == _ABSOLUTE_64:
            address = base + self._address(self.symbols[of]) + addend
            struct.pack_into("<Q", image, offset, address)
        else:
            raise LinkError(f"a relocation of the kind {kind}")

    def _address(self, symbol: _Symbol) -> int:
        """The offset of a symbol of a loaded section in the memory."""
        if symbol.section not in self.offsets:
            raise LinkError(f"the address of {symbol.name or 'a section'}")
        return self.offsets[symbol.section] + symbol.value

    def _entry(self, number: int) -> int:
        if not 0 <= number < len(self.symbols):
            raise LinkError("a symbol that does not exist")
        return self.table + _ENTRY_SIZE * number


def _read_sections(code: bytes) -> list[_Section]:
    head, kind, machine, _, start, _, _, _, size, count, _ = _HEADER.unpack_from(code)
    if head != b"\x7fELF\x02\x01" or (kind, machine) != (_RELOCATABLE, _X86_64):
        raise LinkError("not an object file of x86-64")
    if size != _SECTION.size:
        raise LinkError(f"sections of {size} bytes")
    table = _part(code, start, size * count)
    sections = [_Section(*fields) for fields in _SECTION.iter_unpack(table)]
    for section in sections:
        strange = section.flags & (_WRITABLE | _PER_THREAD)
        if section.is_loaded and (strange or section.alignment > mmap.PAGESIZE):
            raise LinkError("a section that is more than code and constants")
        if section.kind == _RELOCATIONS_WITHOUT_ADDENDS:
            raise LinkError("relocations without addends")
    return sections


def _read_symbols(code: bytes, sections: Sequence[_Section]) -> list[_Symbol]:
    [table] = [section for section in sections if section.kind == _SYMBOLS]
    strings = sections[table.link]
    names = _part(code, strings.offset, strings.size)
    symbols: list[_Symbol] = []
    for name, _, _, section, value, _ in _SYMBOL.iter_unpack(_part(code, table.offset, table.size)):
        text = names[name : names.index(b"\0", name)].decode()
        symbols.append(_Symbol(text, -1 if section >= _FIRST_RESERVED else section, value))
    return symbols


def _part(code: bytes, offset: int, size: int) -> bytes:
    part = code[offset : offset + size]
    if len(part) != size:
        raise LinkError("an object file that was cut off")
    return part


def _rounded(number: int, unit: int) -> int:
    return -(-number // unit) * unit


def _reserve(size: int) -> int:
    """Fresh memory. Python's own `mmap` would free it while a thread still runs in it."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    address = process().mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
    if address in (None, ctypes.c_void_p(-1).value):
        raise LinkError(f"no memory for code: {os.strerror(ctypes.get_errno())}")
    return address


def _protect(address: int, size: int, how: int) -> None:
    if size and process().mprotect(address, size, how):
        raise LinkError(f"memory cannot be executed: {os.strerror(ctypes.get_errno())}")


def _address_in_process(name: str) -> int:
    address = address_of(name)
    if address is None:
        raise LinkError(f"no symbol {name} in this process")
    return address
