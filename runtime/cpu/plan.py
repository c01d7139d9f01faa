"""Launches without Python in between: what `call.ll` is told about a kernel's arguments."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from eas.ir.nodes import Function, Param
from eas.ir.records import frozen
from eas.ir.types import BOOL, DType, Pointer
from eas.runtime.cpu.support import MOST_SLOTS, support

_FASTCALL = 0x80
_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400
_HEAD = 17  # words of a plan before its slots
_MOST = (1 << 31) - 1


@frozen
class Layout:
    """What is the same in each launch of a plan.

    `names` are the arguments in the order of the call; of the arrays there are `ranks`, how many
    axes they have, and `sizes`, how many bytes an element takes. The grid is `extents`, or follows
    from the argument `N` and `block` where that is not 0.
    """

    names: Sequence[str]
    ranks: dict[str, int]
    sizes: dict[str, int]
    written: frozenset[str]
    extents: tuple[int, int, int] = (1, 1, 1)
    block: int = 0


class Plan:
    """`call(*arguments)` runs the kernel and gives None, or gives False: then take the long way."""

    def __init__(self, words: list[int]) -> None:
        self._words = np.array(words, np.int64)
        self._method = _Method(b"launch", support().call, _FASTCALL, None)
        api = ctypes.pythonapi
        make_capsule = ctypes.PYFUNCTYPE(
            ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
        )(("PyCapsule_New", api))
        make_function = ctypes.PYFUNCTYPE(
            ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object
        )(("PyCFunction_NewEx", api))
        capsule = make_capsule(self._words.ctypes.data, None, None)
        self.call: Callable[..., object] = make_function(
            ctypes.addressof(self._method), capsule, None
        )


class _Method(ctypes.Structure):
    """CPython's `PyMethodDef`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def make_plan(function: Function, entry: int, layout: Layout) -> Plan | None:
    """A plan for a function's launches, if its arguments are of the kinds that `call.ll` reads."""
    if not is_possible() or len(function.params) > MOST_SLOTS:
        return None
    slots = [_slot(param, layout) for param in function.params]
    names = [param.name for param in function.params]
    if any(slot is None for slot in slots) or not set(layout.names) <= set(names):
        return None
    n_slot = names.index("N") if layout.block and "N" in names else -1
    most = function.programs or _MOST
    if max(layout.extents) > most or (layout.block and n_slot < 0):
        return None
    objects = (np.ndarray, int, float, None, False, True)
    head = [entry, support().pool, len(layout.names), len(slots), n_slot, layout.block]
    head += [*layout.extents, most, *map(id, objects), (1 << 63) - 1]
    assert len(head) == _HEAD
    return Plan([*head, *(word for slot in slots if slot for word in slot)])


def _slot(param: Param, layout: Layout) -> list[int] | None:
    """The words of a slot, see `call.ll`."""
    name = param.name if param.role == "argument" else param.array
    if name not in layout.names:
        return None
    place, dtype = list(layout.names).index(name), param.value.ty.dtype
    match param.role:
        case "extent":
            return [4, place, param.axis, dtype.max, 0, 0]
        case "stride":
            return [5, place, param.axis, dtype.max, layout.sizes[name], 0]
        case _:
            pass
    if isinstance(param.value.ty, Pointer):
        flags = _CONTIGUOUS | _ALIGNED | (_WRITEABLE if name in layout.written else 0)
        return [0, place, id(dtype.numpy), layout.ranks[name], flags, layout.sizes[name]]
    return _number(place, dtype)


def _number(place: int, dtype: DType) -> list[int] | None:
    if dtype == BOOL:
        return [6, place, 0, 0, 0, 0]
    if dtype.name in ("f32", "f64"):
        return [2 if dtype.name == "f32" else 3, place, 0, 0, 0, 0]
    if dtype.name in ("i32", "i64"):
        return [1, place, dtype.min, dtype.max, 0, 0]
    return None


class _Array(ctypes.Structure):
    """The head of a NumPy array, as `call.ll` reads it."""

    _fields_ = (
        ("references", ctypes.c_int64),
        ("type", ctypes.c_void_p),
        ("data", ctypes.c_void_p),
        ("axes", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("base", ctypes.c_void_p),
        ("dtype", ctypes.c_void_p),
        ("flags", ctypes.c_int32),
    )


@cache
def is_possible() -> bool:
    """Whether objects of this Python and this NumPy lie in memory as `call.ll` expects."""
    is_free_threaded = not getattr(sys, "_is_gil_enabled", lambda: True)()
    if sys.implementation.name != "cpython" or is_free_threaded:
        return False
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return False
    array: Any = np.zeros((3, 5), np.float32)
    head = _Array.from_address(id(array))
    return (
        head.type == id(np.ndarray)
        and head.data == array.ctypes.data
        and head.axes == 2
        and (head.shape[0], head.shape[1]) == array.shape
        and (head.strides[0], head.strides[1]) == array.strides
        and head.dtype == id(array.dtype)
        and head.flags & 0x501 == 0x501
    )
