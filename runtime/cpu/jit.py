"""From LLVM text to machine code in this process, through llvmlite."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import count
from typing import Any

binding: Any = import_module("llvmlite.binding")  # which has no types
_lock = threading.Lock()


@cache
def _target() -> Any:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_default_triple()


def processor() -> str:
    """The processor and its features, as LLVM names them."""
    name, features = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
    return f"{binding.get_default_triple()} {name} {features}"


@cache
def vector_width() -> int:
    """How many f32 a vector of this machine has."""
    features: dict[str, bool] = dict(binding.get_host_cpu_features())
    if all(features.get(f"avx512{part}") for part in ("f", "bw", "dq", "vl")):
        return 16
    return 8 if features.get("avx2") else 4


@cache
def has_streams() -> bool:
    """Whether vectors can be stored past the caches."""
    return str(binding.get_default_triple()).startswith("x86_64")


def make_machine(effort: int = 3) -> Any:
    """A machine whose code lies together with its constants, wherever it is loaded."""
    return _target().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=effort,
        reloc="pic",
        codemodel="small",
    )


def _parsed(text: str, machine: Any) -> Any:
    module = binding.parse_assembly(text)
    module.triple = binding.get_default_triple()
    module.data_layout = str(machine.target_data)
    return module


def _optimized(text: str, machine: Any) -> Any:
    """The module of a text after LLVM's passes. Lanes are vectors already."""
    module = _parsed(text, machine)
    options = binding.create_pipeline_tuning_options(speed_level=2)
    builder = binding.create_pass_builder(machine, options)
    passes = binding.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.add_loop_rotate_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_aggressive_dce_pass()
    passes.run(module, builder)
    return module


def object_code(text: str) -> bytes:
    """The text as an object file for this machine."""
    with _lock:
        machine = make_machine()
        return machine.emit_object(_optimized(text, machine))


def plain_object_code(text: str) -> bytes:
    """The text as an object file, its instructions as they stand: a quarter of the time."""
    with _lock:
        machine = make_machine(effort=0)
        return machine.emit_object(_parsed(text, machine))


def assembly(text: str) -> str:
    with _lock:
        machine = make_machine()
        return machine.emit_assembly(_optimized(text, machine))


@cache
def _linker() -> Any:
    return binding.create_lljit_compiler(make_machine())


_numbers = count()
_loaded: list[Any] = []  # code that something may be running


def link(code: bytes, names: Sequence[str], given: Mapping[str, int]) -> dict[str, int]:
    """The addresses of the functions of these names; the code is never unloaded."""
    with _lock:
        builder = binding.JITLibraryBuilder().add_object_img(code).add_current_process()
        for name in names:
            builder.export_symbol(name)
        for name, address in given.items():
            builder.import_symbol(name, address)
        library = builder.link(_linker(), f"eas{next(_numbers)}")
        _loaded.append(library)
        return {name: library[name] for name in names}
