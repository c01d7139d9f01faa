"""Compiles C for this machine, keeps it in the cache, and runs it on NumPy arrays."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from eas.septran.flat.nodes import Module
from eas.septran.targets.c_text import c_name
from eas.septran.targets.codegen_dsa import print_c
from eas.septran.targets.library import COUNTERS, NATIVE, Library, LibraryError
from eas.septran.targets.needs import require
from eas.septran.targets.scratch import prepared
from eas.support.cache import digest, open_cache
from eas.support.records import frozen

Array: TypeAlias = np.ndarray[Any, Any]

_FLAGS = ("-std=c11", "-O3", "-fPIC", "-fwrapv", "-ffp-contract=off", "-fno-math-errno")
_SECONDS = 300.0
_LINUX = ("generic-glibc", "any-linux-any")
# Zig's headers of the C library, for what a vendor's sources include.
_C_LIBRARY = {
    "x86_64": ("x86-linux-gnu", "x86-linux-any", *_LINUX),
    "aarch64": ("aarch64-linux-gnu", "aarch64-linux-any", *_LINUX),
}


class BuildError(LibraryError):
    """There is no compiler, or it refuses a text: with what it says."""


@frozen
class Compiler:
    """How C becomes a shared library. `version` distinguishes two compilers."""

    compile: tuple[str, ...]
    link: tuple[str, ...]
    version: str


@cache
def find_compiler() -> Compiler:
    """Clang of the `ziglang` wheel, or the C compiler on the path; raises `BuildError`."""
    spec = find_spec("ziglang")
    zig = Path(spec.origin or "").parent / "zig" if spec is not None else None
    if zig is not None and zig.exists() and sys.platform in ("linux", "darwin"):
        return _zig(zig)
    for name in ("cc", "clang", "gcc"):
        path = shutil.which(name)
        if path is not None:
            shown = _run([path, "--version"]).splitlines()
            shared = ("-shared", "-undefined", "dynamic_lookup")
            link = shared if sys.platform == "darwin" else ("-shared",)
            return Compiler((path,), (path, *link), shown[0] if shown else path)
    raise BuildError("there is no C compiler: `pip install 'easy_as[host]'` brings one along")


def _zig(zig: Path) -> Compiler:
    """Clang and the linker themselves: `zig cc` would build a C library first, for minutes."""
    machine = platform.machine().lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    system = "macos" if sys.platform == "darwin" else "linux-gnu"
    folders = [zig.parent / "lib" / "include"]
    if system != "macos":
        library = zig.parent / "lib" / "libc" / "include"
        folders += [library / name for name in _C_LIBRARY.get(machine, ())]
    include = [part for folder in folders for part in ("-isystem", str(folder))]
    command = (str(zig), "clang", f"--target={machine}-{system}", "-nostdinc", *include)
    link = (str(zig), "ld.lld", "-shared")
    if sys.platform == "darwin":
        link = (str(zig), "cc", "-shared", "-nostdlib", "-Wl,-undefined,dynamic_lookup")
    found = zig.stat()
    return Compiler(command, link, f"zig {found.st_size} {found.st_mtime_ns}")


def compile_shared(text: str, library: Library) -> bytes:
    """A shared library of a text and a vendor's sources, from the cache if it is there."""
    compiler = find_compiler()
    flags = _flags(library)
    key = _key(text, library, " ".join((*flags, *library.links)))
    cache = open_cache()
    found = cache.read(key)
    if found is None:
        found = _compile(text, library, compiler, flags)
        cache.store(key, found)
    return found


def compile_objects(library: Library, folder: Path) -> list[str]:
    """A vendor's sources as object files in a folder, for what links by itself."""
    paths = [folder / f"{number}.o" for number in range(len(library.sources))]
    for source, path in zip(library.sources, paths, strict=True):
        path.write_bytes(_object(source, library))
    return list(map(str, paths))


def _object(source: Path, library: Library) -> bytes:
    """One of a vendor's sources, compiled once for all texts."""
    flags = _flags(library)
    key = _key(f"object {source}", library, " ".join(flags))
    cache = open_cache()
    found = cache.read(key)
    if found is None:
        with tempfile.TemporaryDirectory(prefix="septran") as folder:
            path = os.path.join(folder, "source.o")
            command = find_compiler().compile
            _run([*command, "-x", "c", *flags, "-c", str(source), "-o", path])
            found = Path(path).read_bytes()
        cache.store(key, found)
    return found


def _flags(library: Library) -> list[str]:
    return [*_FLAGS, *(f"-I{folder}" for folder in (NATIVE, *library.folders))]


def _key(text: str, library: Library, flags: str) -> str:
    """All that goes into a library: the headers beside the sources, too."""
    headers = [h for folder in (NATIVE, *library.folders) for h in sorted(folder.glob("*.h"))]
    contents = [path.read_bytes() for path in (*library.sources, *headers)]
    return digest(text, find_compiler().version, flags, *contents)


def _compile(text: str, library: Library, compiler: Compiler, flags: Sequence[str]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="septran") as folder:
        kernel = os.path.join(folder, "kernel.o")
        _run([*compiler.compile, "-x", "c", *flags, "-c", "-", "-o", kernel], text)
        objects = [kernel, *compile_objects(library, Path(folder))]
        shared = os.path.join(folder, "kernel.so")
        links = [f"-l{each}" if "/" not in each else each for each in library.links]
        _run([*compiler.link, *objects, *links, "-o", shared])
        return Path(shared).read_bytes()


def _run(command: Sequence[str], text: str = "") -> str:
    try:
        done = subprocess.run(
            command, input=text.encode(), capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"`{command[0]}` cannot be run: {error}") from error
    if done.returncode != 0:
        said = _printable(done.stderr).rstrip()
        ended = f"`{command[0]}` ended with {done.returncode}"
        raise BuildError(f"the compiler says: {said}" if said else ended)
    return _printable(done.stdout)


def _printable(said: bytes) -> str:
    """What a compiler says, with escapes for what a terminal would not show, or obey."""
    text = said.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


class Program:
    """A module that was compiled to C: runs on arrays, and counts the library's calls."""

    def __init__(self, module: Module, library: Library) -> None:
        self.module = module
        self.library = library
        self.text = print_c(module, library)
        require(library)
        self._loaded = load_shared(compile_shared(self.text, library))
        self._entry = self._loaded[c_name(module.name)]
        self._entry.restype = None

    def __call__(self, *arrays: Array) -> None:
        """Runs on arrays, one for each parameter; those it writes are changed in place."""
        given, scratch, sizes = prepared(self.module, self.library, arrays)
        pointers = [ctypes.c_void_p(each.ctypes.data) for each in (*given, *scratch)]
        numbers = list(map(ctypes.c_int64, sizes))
        self._entry(*pointers, *numbers)
        for param, array, used in zip(self.module.params, arrays, given, strict=True):
            if param.privilege != "r" and used is not array:
                array[...] = used

    def call_counts(self) -> dict[str, int]:
        """How often each function of the library was called since it was loaded."""
        try:
            names = (ctypes.c_char_p * 256).in_dll(self._loaded, f"{COUNTERS}_names")
            counts = (ctypes.c_int64 * 256).in_dll(self._loaded, f"{COUNTERS}_counts")
        except ValueError:  # the library does not count
            return {}
        found: dict[str, int] = {}
        for position, name in enumerate(names):
            if name is None:
                break
            found[name.decode()] = counts[position]
        return found


def load_shared(content: bytes) -> ctypes.CDLL:
    """A shared library that is used as it was checked: from a file of this process alone."""
    _load_math()
    with tempfile.TemporaryDirectory(prefix="septran") as folder:
        path = os.path.join(folder, "kernel.so")
        Path(path).write_bytes(content)
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            said = str(error).removeprefix(f"{path}: ")
            raise BuildError(f"what was compiled cannot be loaded: {said}") from error


@cache
def _load_math() -> None:
    """Makes libm's functions visible to what is loaded later, which is not linked with it."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL("libm.so.6", mode=ctypes.RTLD_GLOBAL)
