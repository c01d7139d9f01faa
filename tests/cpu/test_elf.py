"""Object files that are linked without LLVM: right code, or an error and nothing worse."""

from __future__ import annotations

import ctypes
import os
import random
import sys
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from eas.runtime.cpu import build, elf, jit
from eas.runtime.cpu.code import Code

pytestmark = pytest.mark.skipif(
    (sys.platform, os.uname().machine) != ("linux", "x86_64"), reason="LLVM links elsewhere"
)

TEXT = """
@table = private unnamed_addr constant [4 x double] [double 1.0, double 2.0, double 4.0, double 8.0]
declare double @hypot(double, double)
declare double @given(double)

define double @root(double %x) noinline {
  %root = call double @hypot(double %x, double 3.0)
  ret double %root
}

define double @entry(double %x, i64 %n) {
  %place = getelementptr double, ptr @table, i64 %n
  %number = load double, ptr %place
  %root = call double @root(double %x)
  %more = call double @given(double %root)
  %sum = fadd double %more, %number
  ret double %sum
}

define ptr @address() {
  ret ptr @hypot
}
"""
NAMES = ("entry", "root", "address")

Link = Callable[[bytes, Sequence[str], Mapping[str, int]], Code]

Entry = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int64)
Address = ctypes.CFUNCTYPE(ctypes.c_void_p)
Given = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)


def _negate(x: float) -> float:
    return -x


_given = Given(_negate)
GIVEN = {"given": ctypes.cast(_given, ctypes.c_void_p).value or 0}


@pytest.fixture(scope="module")
def code() -> bytes:
    return jit.object_code(TEXT)


@pytest.mark.parametrize("link", [elf.link, jit.link])
def test_code_finds_its_constants_and_functions(code: bytes, link: Link) -> None:
    found = link(code, NAMES, GIVEN)
    entry = Entry(found["entry"])
    assert [entry(4.0, n) for n in range(4)] == [-4.0, -3.0, -1.0, 3.0]
    process = ctypes.CDLL(None)
    assert Address(found["address"])() == ctypes.cast(process.hypot, ctypes.c_void_p).value


def test_a_function_that_is_nowhere_is_an_error(code: bytes) -> None:
    with pytest.raises(elf.LinkError, match="no symbol given in this process"):
        elf.link(code, NAMES, {})
    with pytest.raises(elf.LinkError, match="there is no other"):
        elf.link(code, ["other"], GIVEN)


def test_a_file_that_was_cut_off_anywhere_is_an_error(code: bytes) -> None:
    for length in range(0, len(code), 7):
        with pytest.raises(elf.LinkError):
            elf.link(code[:length], NAMES, GIVEN)


def test_a_file_that_was_changed_anywhere_is_linked_or_an_error(code: bytes) -> None:
    chance = random.Random(0)
    refused = 0
    for _ in range(3000):
        changed = bytearray(code)
        for _ in range(chance.choice([1, 8])):
            changed[chance.randrange(len(code))] = chance.randrange(256)
        try:
            elf.link(bytes(changed), NAMES, GIVEN)
        except elf.LinkError:
            refused += 1
    assert refused > 300


def test_memory_of_code_is_not_written_and_memory_of_constants_not_run(code: bytes) -> None:
    linked = elf.link(code, NAMES, GIVEN)
    start = linked["root"] & ~0xFFF
    maps = _maps()
    at = next(n for n, (where, _) in enumerate(maps) if where.startswith(f"{start:x}-"))
    assert [how for _, how in maps[at : at + 2]] == ["r-xp", "r--p"]


@pytest.mark.parametrize("link", [elf.link, jit.link])
def test_code_that_nobody_can_run_any_more_is_unloaded(code: bytes, link: Link) -> None:
    linked = link(code, NAMES, GIVEN)
    address = linked["root"]
    assert _is_executable(address)
    del linked
    assert not _is_executable(address)


def test_code_that_cannot_be_linked_leaves_no_memory_behind(code: bytes) -> None:
    before = len(_maps())
    for _ in range(50):
        with pytest.raises(elf.LinkError):
            elf.link(code, ["other"], GIVEN)
    assert len(_maps()) < before + 50


def _is_executable(address: int) -> bool:
    for where, how in _maps():
        low, high = (int(number, 16) for number in where.split("-"))
        if low <= address < high:
            return "x" in how
    return False


def _maps() -> list[list[str]]:
    with open("/proc/self/maps", encoding="ascii") as file:
        return [line.split()[:2] for line in file]


def test_other_object_files_are_left_to_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Code:
        raise elf.LinkError("a relocation of the kind 99")

    monkeypatch.setattr(elf, "link", refuse)
    text = TEXT.replace("@given", "@cbrt")
    found = build.build_code("test", text, lambda: jit.object_code(text), NAMES)
    np.testing.assert_allclose(Entry(found["entry"])(4.0, 0), 5.0 ** (1 / 3) + 1)
