"""From MSL texts to libraries that the worker loads."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

from eas.ir.cache import Cache, digest, open_cache
from eas.ir.records import field, frozen, record
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

HEAD = "#include <metal_stdlib>\n"

# Makes a file in a folder.
Make = Callable[[Path], Path]

# Flags of check mode: each access and all undefined behaviour calls the runtime, lines are known.
CHECKED = (
    "-O0", "-gdwarf-4", "-gcolumn-info", "-DEAS_CHECKED", "-fno-wrapv", "-fsanitize=thread",
    "-fsanitize=array-bounds,shift,integer-divide-by-zero,float-cast-overflow,bool,return",
    "-fsanitize=signed-integer-overflow,alignment", "-fsanitize-recover=all",
)  # fmt: skip


@frozen
class Library:
    """A file that holds the kernels of some texts."""

    path: Path
    units: tuple[Unit, ...]


@record
class Builder:
    """Compiles texts, each once; `cache` remembers them for other processes and later days."""

    cache: Cache = field(default_factory=open_cache)
    tools: Toolchain = field(default_factory=find_toolchain)
    _made: dict[str, Path] = field(default_factory=dict[str, Path])
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _folder: Path | None = None

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
            return self._file(code, flags, partial(compile_library, self.tools, code, flags))
        except ToolFailure as error:
            raise HostError(f"clang refuses the runtime\n{error}") from None
        except OSError as error:
            raise HostError(f"there is no place to compile to: {error}") from error

    def _kernels(self, code: str, flags: Sequence[str]) -> Path:
        def make(folder: Path) -> Path:
            included = ("-Xclang", "-include-pch", "-Xclang", str(self._head(flags)))
            return compile_library(self.tools, code, (*flags, *included), folder)

        return self._file(HEAD + code, flags, make)

    def _head(self, flags: Sequence[str]) -> Path:
        """Metal's library, precompiled: to read its text takes longer than all the rest."""
        place = str(INCLUDE)  # clang looks for the files that it was made of
        return self._file(HEAD + place, flags, partial(precompile, self.tools, HEAD, flags))

    def _file(self, content: str, flags: Sequence[str], make: Make) -> Path:
        key = digest(self.tools.version, *self.tools.target, *flags, _shim_digest(), content)
        with self._lock:
            found = self._made.get(key)
            if found is None or not found.exists():
                found = self._made[key] = self.cache.find(key) or self._make(key, make)
            return found

    def _make(self, key: str, make: Make) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="easy_as-"))
        try:
            made = make(folder)
            kept = self.cache.keep(key, made)
            return kept or self._own_copy(key, made)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _own_copy(self, key: str, made: Path) -> Path:
        """Without a cache the file lives as long as this process."""
        if self._folder is None or not self._folder.exists():
            self._folder = Path(tempfile.mkdtemp(prefix="easy_as-"))
            weakref.finalize(self, _remove_folder, self._folder, os.getpid())
        return Path(shutil.move(made, self._folder / f"{key}.so"))


def compile_library(tools: Toolchain, code: str, flags: Sequence[str], folder: Path) -> Path:
    """Compiles C++ to a library in a folder."""
    object_file, library = folder / "kernel.o", folder / "kernel.so"
    run_tool(tools.compile_command(flags, str(object_file)), code)
    run_tool(tools.link_command([str(object_file)], str(library)))
    return library


def precompile(tools: Toolchain, code: str, flags: Sequence[str], folder: Path) -> Path:
    """Compiles a header in a folder, for texts that are compiled with the same flags."""
    header = folder / "header.pch"
    run_tool(tools.precompile_command(flags, str(header)), code)
    return header


def _remove_folder(folder: Path, process: int) -> None:
    if os.getpid() == process:  # a forked process must not take its parent's files away
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
