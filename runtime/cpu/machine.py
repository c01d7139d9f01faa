"""What machine code depends on besides the kernel: the processor and the code generator."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from typing import Any

import eas.ir
import eas.llvm
from eas.runtime.this_process import architecture
from eas.support.cache import digest
from eas.support.folders import HAS_DESCRIPTORS

_llvmlite: Any = import_module("llvmlite")  # which is small; `llvmlite.binding` loads LLVM

# The lines of /proc/cpuinfo that identify the kind of processor.
_IDENTIFYING = (
    "vendor_id", "cpu family", "model", "model name", "stepping", "flags",
    "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision", "Features",
)  # fmt: skip


@cache
def machine_name() -> str:
    """The processor with its features, and the version of LLVM."""
    return f"{_processor()} llvmlite {_llvmlite.__version__}"


def _processor() -> str:
    """The processor as the system describes it, else as LLVM detects it."""
    described = _described_by_linux() if sys.platform == "linux" else ""
    if described:
        return described
    from eas.runtime.cpu import jit

    return jit.processor()


def _described_by_linux() -> str:
    """The first processor of /proc/cpuinfo. LLVM would detect the same, but is slow to load."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            first = file.read(1 << 14).partition("\n\n")[0]
    except OSError:
        return ""
    pairs = [line.partition(":") for line in first.splitlines()]
    lines = [
        f"{key.strip()}={value.strip()}" for key, _, value in pairs if key.strip() in _IDENTIFYING
    ]
    has_features = any(line.startswith(("flags=", "Features=")) for line in lines)
    return " ".join([architecture(), *lines]) if has_features else ""


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
