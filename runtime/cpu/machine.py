"""What machine code depends on besides the kernel: the processor and the code generator."""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import Any

import eas.ir
import eas.llvm
from eas.runtime.this_process import architecture
from eas.support.cache import digest
from eas.support.folders import HAS_DESCRIPTORS
from eas.support.processor import describe_processor

_llvmlite: Any = import_module("llvmlite")  # which is small; `llvmlite.binding` loads LLVM


@cache
def machine_name() -> str:
    """The processor with its features, and the version of LLVM."""
    return f"{_processor()} llvmlite {_llvmlite.__version__}"


def _processor() -> str:
    """The processor as the system describes it, else as LLVM detects it, which is slow to load."""
    described = describe_processor()
    if described:
        return f"{architecture()} {described}"
    from eas.runtime.cpu import jit

    return jit.processor()


@cache
def generator_name() -> str:
    """A digest of the code generator, since another version generates other code.

    It is computed from the sizes and times of its files. Installers can set the modification time,
    but not the change time (ctime), which the system sets.
    """
    ours = os.path.dirname(eas.ir.__file__), os.path.dirname(eas.llvm.__file__)
    folders = (os.path.dirname(__file__), *(each for top in ours for each in _with_subfolders(top)))
    found = [pair for folder in folders for pair in _files(folder)]
    lines = [f"{name} {s.st_size} {s.st_mtime_ns} {s.st_ctime_ns}" for name, s in found]
    return digest("\n".join(sorted(lines)))


def _with_subfolders(folder: str) -> list[str]:
    """A folder of modules and its subfolders."""
    with os.scandir(folder) as entries:
        inner = [entry.path for entry in entries if entry.is_dir() and entry.name != "__pycache__"]
    return [folder, *inner]


def _files(folder: str) -> list[tuple[str, os.stat_result]]:
    """The files of a folder. Relative to an open folder, `stat` is faster."""
    if not HAS_DESCRIPTORS:
        return _listed(folder)
    handle = os.open(folder, os.O_RDONLY)
    try:
        return _listed(handle)
    finally:
        os.close(handle)


def _listed(folder: str | int) -> list[tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        return [(entry.name, entry.stat()) for entry in entries if entry.is_file()]
