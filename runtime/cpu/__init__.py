"""Kernels as machine code: compiles LLVM text, caches the code, runs programs on all cores."""

from __future__ import annotations

from eas.llvm.emit.errors import UnsupportedError
from eas.runtime.cpu.build import list_lanes, to_asm, to_llvm
from eas.runtime.cpu.launch import Executable

__all__ = ["Executable", "UnsupportedError", "list_lanes", "to_asm", "to_llvm"]
