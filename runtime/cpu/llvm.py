"""LLVM, through the functions of llvmlite's library that a compile needs.

`llvmlite.binding` has them all, but its import takes as long as the compile of a small kernel, and
it has a global lock. Here every compile has its own context, so that threads do not wait for each
other.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from eas.runtime.cpu.once import once
from eas.support.timing import timed

_P, _S, _N, _SIZE = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_size_t
_OUT = ctypes.POINTER(ctypes.c_char_p)  # receives a text that `DisposeString` frees
PREFIX = "LLVMPY_"

# The result and the parameters of each function. These are short, and hold the GIL.
SHORT: dict[str, tuple[Any, ...]] = {
    "InitializeNativeTarget": (None,),
    "InitializeNativeAsmPrinter": (None,),
    "DisposeString": (None, _S),
    "GetDefaultTargetTriple": (None, _OUT),
    "GetHostCPUName": (None, _OUT),
    "GetHostCPUFeatures": (_N, _OUT),
    "GetTargetFromTriple": (_P, _S, _OUT),
    "CreateTargetMachine": (_P, _P, _S, _S, _S, _N, _S, _S, _N, _N, _S),
    "DisposeTargetMachine": (None, _P),
    "CreateTargetMachineData": (_P, _P),
    "CopyStringRepOfTargetData": (None, _P, _OUT),
    "DisposeTargetData": (None, _P),
    "ContextCreate": (_P,),
    "ContextDispose": (None, _P),
    "SetTarget": (None, _P, _S),
    "SetDataLayout": (None, _P, _S),
    "DisposeModule": (None, _P),
    "CreatePipelineTuningOptions": (_P,),
    "DisposePipelineTuningOptions": (None, _P),
    "CreatePassBuilder": (_P, _P, _P),
    "DisposePassBuilder": (None, _P),
    "CreateNewModulePassManager": (_P,),
    "DisposeNewModulePassManger": (None, _P),
    "GetBufferStart": (_P, _P),
    "GetBufferSize": (_SIZE, _P),
    "DisposeMemoryBuffer": (None, _P),
}
# These are long, and release the GIL.
LONG: dict[str, tuple[Any, ...]] = {
    "ParseAssembly": (_P, _P, _S, _OUT),
    "RunNewModulePassManager": (None, _P, _P, _P),
    "TargetMachineEmitToMemory": (_P, _P, _P, _N, _OUT),
}
_PASS = (None, _P)  # every function that adds a pass


class _Library:
    """The functions of the library, by their names without the prefix."""

    def __init__(self) -> None:
        package: Any = import_module("llvmlite")
        name: str = import_module("llvmlite.utils").get_library_name()
        path = str(Path(package.__file__).parent / "binding" / name)
        self._releasing_gil, self._holding_gil = ctypes.CDLL(path), ctypes.PyDLL(path)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        given, *taken = LONG.get(name) or SHORT.get(name, _PASS)
        holder = self._releasing_gil if name in LONG else self._holding_gil
        function = getattr(holder, PREFIX + name)
        function.restype, function.argtypes = given, taken
        setattr(self, name, function)
        return function


@once
def library() -> Any:
    """LLVM, which is loaded when something has to be compiled."""
    with timed("LLVM", "loading it"):
        llvm: Any = _Library()
        llvm.InitializeNativeTarget()
        llvm.InitializeNativeAsmPrinter()
    return llvm


@once
def default_triple() -> str:
    return _text(library().GetDefaultTargetTriple)


@once
def host_name() -> str:
    """The processor's name."""
    return _text(library().GetHostCPUName)


@once
def host_features() -> str:
    """The features that the processor has or lacks, `+avx2,-avx512f`, sorted by name."""
    features = _text(library().GetHostCPUFeatures).split(",")
    return ",".join(sorted(filter(None, features), key=lambda feature: feature[1:]))


def emit(text: str, effort: int, passes: Sequence[str], *, as_assembly: bool = False) -> bytes:
    """The machine code of a module's text after these passes: an object file, or assembly.

    It is for this processor and position independent. `effort` is the optimization level of the
    code generator, from 0 to 3; the names of passes are the library's.
    """
    llvm = library()
    with (
        _owned(_new_machine(effort), llvm.DisposeTargetMachine) as machine,
        _owned(llvm.ContextCreate(), llvm.ContextDispose) as context,
        _owned(_parsed(context, text), llvm.DisposeModule) as module,
    ):
        llvm.SetTarget(module, default_triple().encode())
        llvm.SetDataLayout(module, _data_layout(machine).encode())
        if passes:
            _run_passes(machine, module, passes)
        return _emitted(machine, module, not as_assembly)


def _new_machine(effort: int) -> int:
    triple, name, features = default_triple().encode(), host_name().encode(), host_features()
    target = _checked(library().GetTargetFromTriple, triple)
    places = (b"pic", b"small", 0, 0, b"")
    made = library().CreateTargetMachine(target, triple, name, features.encode(), effort, *places)
    if not made:
        raise RuntimeError(f"LLVM knows no machine {triple.decode()} {name.decode()}")
    return made


def _parsed(context: int, text: str) -> int:
    return _checked(library().ParseAssembly, context, text.encode())


def _data_layout(machine: int) -> str:
    llvm = library()
    with _owned(llvm.CreateTargetMachineData(machine), llvm.DisposeTargetData) as layout:
        return _text(llvm.CopyStringRepOfTargetData, layout)


def _run_passes(machine: int, module: int, passes: Sequence[str]) -> None:
    llvm = library()
    with (
        _owned(llvm.CreatePipelineTuningOptions(), llvm.DisposePipelineTuningOptions) as options,
        _owned(llvm.CreatePassBuilder(machine, options), llvm.DisposePassBuilder) as builder,
        _owned(llvm.CreateNewModulePassManager(), llvm.DisposeNewModulePassManger) as manager,
    ):
        for name in passes:
            getattr(llvm, f"module_Add{name}Pass")(manager)
        llvm.RunNewModulePassManager(manager, module, builder)


def _emitted(machine: int, module: int, is_object: bool) -> bytes:
    llvm = library()
    buffer = _checked(llvm.TargetMachineEmitToMemory, machine, module, is_object)
    with _owned(buffer, llvm.DisposeMemoryBuffer):
        return ctypes.string_at(llvm.GetBufferStart(buffer), llvm.GetBufferSize(buffer))


@contextmanager
def _owned(made: int, dispose: Callable[[int], None]) -> Generator[int]:
    """An object of LLVM that is disposed at the end."""
    try:
        yield made
    finally:
        dispose(made)


def _checked(function: Callable[..., int | None], *arguments: object) -> int:
    """The result of a function whose last argument receives the reason if there is none."""
    message = ctypes.c_char_p()
    made = function(*arguments, ctypes.byref(message))
    why = _take_text(message)
    if not made:
        raise RuntimeError(f"LLVM: {why}")
    return made


def _text(function: Callable[..., object], *arguments: object) -> str:
    """The text that a function stores through its last argument."""
    place = ctypes.c_char_p()
    function(*arguments, ctypes.byref(place))
    return _take_text(place)


def _take_text(place: ctypes.c_char_p) -> str:
    text = (place.value or b"").decode(errors="replace")
    if place:
        library().DisposeString(place)
    return text
