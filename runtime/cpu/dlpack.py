"""The functions that consumers of DLPack call, as machine code.

A callback of ctypes would run Python, which a thread cannot do while the interpreter shuts down: it
would end the process.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

from eas.runtime.cpu.build import build_code
from eas.runtime.cpu.once import once
from eas.runtime.this_process import address_of
from eas.support.records import frozen

_PYTHON = (
    "Py_IsInitialized",
    "PyGILState_Ensure",
    "PyGILState_Release",
    "Py_DecRef",
    "PyCapsule_GetName",
    "PyCapsule_GetPointer",
)


@frozen
class Deleters:
    """The addresses of the functions of `dlpack.ll`."""

    plain: int
    versioned: int
    capsule: int


def _load() -> Deleters:
    symbols = {name: address_of(name, ctypes.pythonapi) or 0 for name in _PYTHON}
    names = ["eas_dlpack_delete", "eas_dlpack_delete_versioned", "eas_dlpack_close"]
    code = build_code("dlpack", f"dlpack\n{_text()}", _compile, names, symbols=symbols)
    # For good: other libraries may call it until the very end of the process.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))
    return Deleters(*(code[name] for name in names))


def _text() -> str:
    return (Path(__file__).parent / "dlpack.ll").read_text("utf-8")


def _compile() -> bytes:
    from eas.runtime.cpu import jit

    return jit.plain_object_code(_text())


deleters = once(_load)
