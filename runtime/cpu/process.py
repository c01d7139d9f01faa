"""This process: its machine, its C library and its forks, as far as the system has them."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from typing import Any


def architecture() -> str:
    """The kind of processor as the system names it; nothing where it does not (Windows)."""
    return os.uname().machine if hasattr(os, "uname") else ""


def in_forked_child(call: Callable[[], None]) -> None:
    """Has a function called at the start of every forked process, where there are any."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=call)


@cache
def process() -> Any:
    """All that this process has loaded, with the functions that are called from here."""
    library: Any = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    library.dlsym.restype = ctypes.c_void_p
    library.dlsym.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    return library


def address_of(name: str, library: Any = None) -> int | None:
    """Where a function is; without a library, one of the whole process.

    A function object of ctypes would tell as well, but takes ten times as long to make.
    """
    return process().dlsym((library or process())._handle, name.encode())
