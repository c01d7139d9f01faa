"""From MSL texts to libraries that the worker loads."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import count
from pathlib import Path
from weakref import WeakValueDictionary

from eas.msl.host.errors import HostError, MslError
from eas.msl.host.preprocess import expand
from eas.msl.host.toolchain import (
    INCLUDE,
    NATIVE,
    Toolchain,
    ToolFailure,
    find_toolchain,
    run_tool,
)
from eas.msl.host.translate import Constants, Unit, translate
from eas.support.cache import Cache, digest, open_cache
from eas.support.records import field, frozen, record

HEAD = "#include <metal_stdlib>\n"
MOST_RECENT = 256  # libraries that stay ready for a launch of the same text

# Makes a file in a folder.
Make = Callable[[Path], Path]

# Flags of check mode: each access and all undefined behaviour calls the runtime, lines are known.
CHECKED = (
    "-O0", "-gdwarf-4", "-gcolumn-info", "-DEAS_CHECKED", "-fno-wrapv", "-fsanitize=thread",
    "-fsanitize=array-bounds,shift,integer-divide-by-zero,float-cast-overflow,bool,return",
    "-fsanitize=signed-integer-overflow,alignment", "-fsanitize-recover=all",
)  # fmt: skip


class OwnFile:
    """A file in a folder that only this process uses, until nothing refers to it any more.

    What is loaded lies there, not in the cache: nobody can put another file in its place.
    """

    def __init__(self, folder: Path, number: int, content: bytes) -> None:
        self.path = folder / f"{number}.so"
        self.path.write_bytes(content)
        weakref.finalize(self, _remove_file, self.path, os.getpid()).atexit = False


@frozen
class Library:
    """A file that holds the kernels of some texts."""

    file: OwnFile
    units: tuple[Unit, ...]

    @property
    def path(self) -> Path:
        return self.file.path


def _no_files() -> WeakValueDictionary[str, OwnFile]:
    return WeakValueDictionary()


@record
class Builder:
    """Compiles texts, each once; `cache` remembers them for other processes and later days."""

    cache: Cache = field(default_factory=open_cache)
    tools: Toolchain = field(default_factory=find_toolchain)
    _made: WeakValueDictionary[str, OwnFile] = field(default_factory=_no_files)
    _recent: deque[OwnFile] = field(default_factory=lambda: deque[OwnFile](maxlen=MOST_RECENT))
    _shared: dict[str, OwnFile] = field(default_factory=dict[str, OwnFile])
    _numbers: Iterator[int] = field(default_factory=count)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _folder: Path | None = None
    _owner: int = 0

    def build(
        self,
        texts: Sequence[str],
        flags: Sequence[str] = (),
        constants: Constants | None = None,
    ) -> Library:
        """The library of some texts; raises `MslError` for a text that is no Metal."""
        expanded = [expand(text, self.tools) for text in texts]
        units = tuple(translate(text, n, constants) for n, text in enumerate(expanded))
        name = units[0].kernels[0].name if len(units) == 1 and units[0].kernels else ""
        code = "".join(unit.code for unit in units)
        try:
            return Library(self._kernels(code, flags), units)
        except ToolFailure as error:
            raise MslError(f"clang refuses the Metal text\n{error}", name) from None
        except OSError as error:
            raise HostError(f"there is no place to compile to: {error}", name) from error

    def runtime(self, is_checked: bool = False) -> Path:
        """The library that runs kernels."""
        code = (NATIVE / "runtime.cpp").read_text("utf-8")
        checked = ("-DEAS_CHECKED", "-fno-omit-frame-pointer") if is_checked else ()
        flags = ("-O2", "-I", str(NATIVE), *checked)
        try:
            make = partial(compile_library, self.tools, code, flags)
            return self._shared_file(code, flags, make).path
        except ToolFailure as error:
            raise HostError(f"clang refuses the runtime\n{error}") from None
        except OSError as error:
            raise HostError(f"there is no place to compile to: {error}") from error

    def header(self, flags: Sequence[str] = ()) -> Path:
        """Metal's library, precompiled: to read its text takes longer than all the rest."""
        return self.precompiled(self.tools.precompile_command(flags), flags)

    def precompiled(self, command: Sequence[str], flags: Sequence[str]) -> Path:
        """Metal's library, precompiled by a command; `flags` are what its result depends on."""
        content = HEAD + str(INCLUDE)  # clang looks for the files that it was made of
        return self._shared_file(content, flags, partial(precompile, command, HEAD)).path

    def _kernels(self, code: str, flags: Sequence[str]) -> OwnFile:
        def make(folder: Path) -> Path:
            included = include_precompiled(self.header(flags))
            return compile_library(self.tools, code, (*flags, *included), folder)

        with self._lock:
            file = self._file(HEAD + code, flags, make)
            if file not in self._recent:
                self._recent.append(file)
            return file

    def _shared_file(self, content: str, flags: Sequence[str], make: Make) -> OwnFile:
        """A file that is used as long as this process runs."""
        with self._lock:
            file = self._file(content, flags, make)
            self._shared[str(file.path)] = file
            return file

    def _file(self, content: str, flags: Sequence[str], make: Make) -> OwnFile:
        key = digest(self.tools.version, *self.tools.target, *flags, _shim_digest(), content)
        found = self._made.get(key)
        if found is None or not found.path.exists():
            code = self.cache.read(key) or self._make(key, make)
            found = self._made[key] = OwnFile(self._own_folder(), next(self._numbers), code)
        return found

    def _make(self, key: str, make: Make) -> bytes:
        folder = Path(tempfile.mkdtemp(prefix="easy_as-"))
        try:
            code = make(folder).read_bytes()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        self.cache.store(key, code)
        return code

    def _own_folder(self) -> Path:
        """The folder of this process; a forked one does not write to its parent's."""
        if self._folder is None or self._owner != os.getpid() or not self._folder.exists():
            self._folder, self._owner = Path(tempfile.mkdtemp(prefix="easy_as-")), os.getpid()
            weakref.finalize(self, _remove_folder, self._folder, self._owner)
        return self._folder


def compile_library(tools: Toolchain, code: str, flags: Sequence[str], folder: Path) -> Path:
    """Compiles C++ to a library in a folder."""
    object_file, library = folder / "kernel.o", folder / "kernel.so"
    run_tool(tools.compile_command(flags, str(object_file)), code)
    run_tool(tools.link_command([str(object_file)], str(library)))
    return library


def precompile(command: Sequence[str], code: str, folder: Path) -> Path:
    """Compiles a header in a folder, for texts that are compiled with the same flags."""
    header = folder / "header.pch"
    run_tool([*command, "-o", str(header)], code)
    return header


def include_precompiled(header: Path) -> tuple[str, ...]:
    """The flags that include a precompiled header."""
    return ("-Xclang", "-include-pch", "-Xclang", str(header))


def _remove_file(path: Path, process: int) -> None:
    if os.getpid() == process:  # a forked process must not take its parent's files away
        path.unlink(missing_ok=True)


def _remove_folder(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


@cache
def _shim_digest() -> str:
    files = sorted(path for folder in (INCLUDE, NATIVE) for path in folder.iterdir())
    return digest(*(part for path in files for part in (path.name, path.read_bytes())))


@cache
def _builder_of(process: int) -> Builder:
    del process
    return Builder()


def default_builder() -> Builder:
    """The builder that launches share; a forked process has one of its own."""
    return _builder_of(os.getpid())
