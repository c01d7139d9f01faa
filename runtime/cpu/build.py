"""A kernel's machine code: from the cache on disk, or made anew and kept there."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from eas.ir.cache import Cache, digest, open_cache
from eas.ir.nodes import Function
from eas.ir.text import print_function
from eas.runtime.cpu import jit
from eas.runtime.cpu.kernel import ENTRY, write

SUFFIX = ".o"


@cache
def default_cache() -> Cache:
    return open_cache(suffix=SUFFIX)


@cache
def _version() -> str:
    """What the code generator itself is made of: another one makes other code."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return digest(*(path.read_bytes() for path in files))


def to_llvm(function: Function) -> str:
    """The LLVM text of a function that was relaxed, for this machine."""
    return write(function, jit.vector_width(), jit.has_streams())


def to_asm(function: Function) -> str:
    """The machine code of a function that was relaxed, as text."""
    return jit.assembly(to_llvm(function))


def build(function: Function, kept: Cache | None = None) -> int:
    """The address of a function's entry; the code stays loaded until the process ends."""

    def make() -> str:
        with timed(function.name, "writing LLVM"):
            return to_llvm(function)

    library = build_text(function.name, print_function(function), make, [ENTRY], kept)
    return library.addresses[ENTRY]


def build_text(
    name: str,
    what: str,
    make: Callable[[], str],
    exported: Sequence[str],
    kept: Cache | None = None,
    symbols: Mapping[str, int] | None = None,
) -> jit.Library:
    """The code of an LLVM text that is made of `what`: kept on disk, or compiled now."""
    kept = kept or default_cache()
    key = digest(_version(), jit.machine_name(), what)
    code = kept.read(key)
    library = None
    if code is not None:
        with timed(name, "loading it"), suppress(RuntimeError):  # what was kept is not code
            library = jit.Library(code, exported, symbols)
    if library is None:
        text = make()
        with timed(name, "compiling it"):
            code = jit.object_code(text)
        kept.keep_bytes(key, code)
        library = jit.Library(code, exported, symbols)
    _loaded.append(library)
    return library


_loaded: list[jit.Library] = []  # code that something may be running


@contextmanager
def timed(name: str, what: str) -> Generator[None]:
    """With `EAS_TIMING=1`, tells on stderr how long a part of a compile took."""
    start = time.perf_counter()
    yield
    if os.environ.get("EAS_TIMING") == "1":
        took = (time.perf_counter() - start) * 1000
        print(f"eas: {name}: {what} took {took:.1f} ms", file=sys.stderr)
