"""From LLVM text to machine code in this process."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import count
from typing import Any

from eas.runtime.cpu import llvm
from eas.runtime.cpu.code import Code

# The text is vectorized and its loops are final: only cleanup is left.
PASSES = (
    "AlwaysInliner",
    "SROA",
    "SimplifyCFG",
    "InstCombine",
    "LoopRotate",
    "InstCombine",
    "SimplifyCFG",
    "ADCE",
)
_MOST_EFFORT = 3


def processor() -> str:
    """The processor and its features, as LLVM names them."""
    return f"{llvm.default_triple()} {llvm.host_name()} {llvm.host_features()}"


@cache
def vector_width() -> int:
    """How many f32 a vector of this machine has."""
    features = set(llvm.host_features().split(","))
    if features >= {f"+avx512{part}" for part in ("f", "bw", "dq", "vl")}:
        return 16
    return 8 if "+avx2" in features else 4


@cache
def is_x86() -> bool:
    return llvm.default_triple().startswith("x86_64")


def object_code(text: str) -> bytes:
    """The text as an object file for this machine."""
    return llvm.emit(text, _MOST_EFFORT, PASSES)


def plain_object_code(text: str) -> bytes:
    """The text as an object file, without optimization: a quarter of the time."""
    return llvm.emit(text, 0, ())


def assembly(text: str) -> str:
    return llvm.emit(text, _MOST_EFFORT, PASSES, as_assembly=True).decode()


_lock = threading.Lock()
_numbers = count()


@cache
def _binding() -> Any:
    return import_module("llvmlite.binding")  # which has no types


@cache
def _linker() -> Any:
    binding = _binding()
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu=llvm.host_name(), features=llvm.host_features(), reloc="pic", codemodel="small"
    )
    return binding.create_lljit_compiler(machine)


def link(code: bytes, names: Sequence[str], given: Mapping[str, int]) -> Code:
    """The functions of these names, in memory."""
    with _lock:
        builder = _binding().JITLibraryBuilder().add_object_img(code).add_current_process()
        for name in names:
            builder.export_symbol(name)
        for name, address in given.items():
            builder.import_symbol(name, address)
        library = builder.link(_linker(), f"eas{next(_numbers)}")
        return Code({name: library[name] for name in names}, library.close)
