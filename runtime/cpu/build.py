"""A kernel's machine code: from the code cache on disk, or compiled and stored there.

The code generator and LLVM are imported where they are needed: a cache hit does without them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module

from eas.ir.dump import dump_folder
from eas.ir.nodes import Function
from eas.ir.report_sites import site_numbers
from eas.ir.text import print_function
from eas.llvm import ENTRY
from eas.runtime.cpu import elf
from eas.runtime.cpu.code import Code
from eas.runtime.cpu.machine import generator_name, machine_name
from eas.support.cache import Cache, digest, open_cache
from eas.support.records import replace
from eas.support.timing import timed

SUFFIX = ".o"


@cache
def default_cache() -> Cache:
    return open_cache(suffix=SUFFIX)


def to_llvm(function: Function) -> str:
    """The LLVM text of a function that was relaxed, for this machine."""
    from eas.llvm.kernel import write  # while another thread may be loading LLVM
    from eas.runtime.cpu import jit

    return write(function, jit.vector_width(), jit.is_x86())


def list_lanes(function: Function) -> str:
    """The loops over lanes of a function that was relaxed, for this machine."""
    from eas.llvm import kernel  # as above
    from eas.runtime.cpu import jit

    return kernel.list_lanes(function, jit.vector_width(), jit.is_x86())


@cache
def load_code_generator() -> None:
    """Imports the code generator and loads LLVM, once: copies of this process have them, too."""
    from eas.runtime.cpu import jit

    import_module("eas.llvm.kernel")
    jit.object_code("define void @nothing() {\n  ret void\n}\n")


def to_asm(function: Function) -> str:
    """The machine code of a function that was relaxed, as text."""
    from eas.runtime.cpu import jit

    return jit.assembly(to_llvm(function))


def build(function: Function, code_cache: Cache | None, background: Callable[[], object]) -> Code:
    """A function's code, with its `ENTRY`.

    If it has to be compiled, a background thread loads LLVM meanwhile and then calls `background`.
    """

    def make() -> bytes:
        from eas.runtime.cpu import jit, llvm

        with _in_background(llvm.library, background):
            with timed(function.name, "writing LLVM"):
                text = to_llvm(function)
            with timed(function.name, "compiling it"):
                return jit.object_code(text)

    # The names of constants and the locations of ops are not part of the key, except that two
    # asserts or prints on one line report as one.
    key_text = print_function(replace(function, constants=()), locations=False)
    key_text = f"{key_text}{site_numbers(function)}"
    is_new = dump_folder() is not None  # else a cache hit would dump no pass of this target
    return build_code(function.name, key_text, make, [ENTRY], code_cache, is_new=is_new)


@contextmanager
def _in_background(*steps: Callable[[], object]) -> Generator[None]:
    """Calls the steps in a background thread, if one can be started.

    The caller needs their results later and calls them itself: an error is raised there.
    """

    def run() -> None:
        with suppress(Exception):
            for step in steps:
                step()

    thread = threading.Thread(target=run, name="eas compile")
    try:
        thread.start()
    except RuntimeError:  # the system allows no more threads
        yield
        return
    try:
        yield
    finally:
        thread.join()


def build_code(
    name: str,
    key_text: str,
    make: Callable[[], bytes],
    exported: Sequence[str],
    code_cache: Cache | None = None,
    symbols: Mapping[str, int] | None = None,
    is_new: bool = False,
) -> Code:
    """The functions of an object file: cached under a key of `key_text`, or made by `make`.

    If `is_new`, it is made even if it is cached.
    """
    code_cache = code_cache or default_cache()
    key = digest(generator_name(), machine_name(), key_text)
    code = None if is_new else code_cache.read(key)
    if code is not None:
        with timed(name, "loading it"), suppress(RuntimeError):  # the cached file is not code
            return _link(code, exported, symbols or {})
    code = make()
    code_cache.store(key, code)
    return _link(code, exported, symbols or {})


def _link(code: bytes, exported: Sequence[str], symbols: Mapping[str, int]) -> Code:
    with suppress(elf.LinkError):
        return elf.link(code, exported, symbols)
    from eas.runtime.cpu import jit

    return jit.link(code, exported, symbols)
