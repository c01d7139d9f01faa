"""This process: its architecture, its C library and its forks."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from typing import Any


def architecture() -> str:
    """The architecture as the system names it; empty on Windows."""
    return os.uname().machine if hasattr(os, "uname") else ""


def in_forked_child(call: Callable[[], None]) -> None:
    """Registers a function that is called at the start of every forked process."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=call)


@cache
def process() -> Any:
    """The symbols that this process has loaded, with the types of those used here."""
    library: Any = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    library.dlsym.restype = ctypes.c_void_p
    library.dlsym.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    return library


def address_of(name: str, library: Any = None) -> int | None:
    """The address of a function of a library, or of the whole process.

    A function object of ctypes has it as well, but takes ten times as long to create.
    """
    return process().dlsym((library or process())._handle, name.encode())
