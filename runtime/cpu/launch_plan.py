"""Plans for the launch fast path: they describe a kernel's arguments to `call.ll`."""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from eas.ir.nodes import Function, Param
from eas.ir.types import BOOL, I32, I64, DType
from eas.llvm import ENTRY
from eas.runtime.argument_values import Array, Bound, is_wide
from eas.runtime.binding import ArrayUse
from eas.runtime.cpu.code import Code
from eas.runtime.cpu.support import MOST_SLOTS, support
from eas.runtime.errors import KernelError
from eas.support.diagnostics import Diagnostic
from eas.support.records import frozen

_FASTCALL = 0x80
_ALIGNED, _WRITEABLE = 0x100, 0x400
_HEAD = 18  # words of a plan before its slots
_ARGUMENTS, _SLOTS, _READS_ONLY = 2, 3, 17  # words
_EXTENTS, _PACKET_SLOTS = 26, 30  # words of a packet: the grid, and the content of slots
_CANCELLED = 8 * 16  # the byte of a packet that cancels its job
_MOST = (1 << 31) - 1
_EVERY_AXIS = (1 << 31) - 1


# What a report says about a launch with these arguments.
Explain = Callable[[tuple[Any, ...], Array], Diagnostic]


@frozen
class Layout:
    """What all launches of a plan have in common.

    `row` are the arguments of one launch in order, by name. `same` maps arguments to an earlier one
    that is the same object. `declared` are those whose dtype does not depend on the argument.
    `values` are the runtime arguments as the kernel gets them, with those that have a default and
    are not in the row. A launch without a grid derives it from the argument `N` and `block`, which
    is 0 where it cannot. `tensor` is `eas.Tensor` if some arguments are tensors.
    """

    row: Mapping[str, object]
    same: Mapping[str, str]
    declared: frozenset[str]
    values: Mapping[str, Bound]
    uses: Mapping[str, ArrayUse]
    block: int
    tensor: type | None = None


class Plan:
    """`call(*arguments)` runs the kernel and gives None, or gives False and runs nothing.

    It gives the report as bytes if something went wrong. The three extents of a grid may follow the
    arguments. `keep_alive` holds the objects that the words are addresses of. `used` are the slots
    of arrays that the kernel uses, and whether it writes them.
    """

    def __init__(
        self,
        words: list[int],
        keep_alive: object,
        explain: Explain,
        used: Sequence[tuple[int, bool]],
    ) -> None:
        self._words = np.array(words, np.int64)
        self._keep_alive = keep_alive
        self.explain = explain
        self.arguments = words[_ARGUMENTS]
        self.used = used
        self._method, self.capsule, self.call = make_builtin(support().call, self._words)

    @cached_property
    def reading(self) -> Reading:
        """The plan, to read arguments without running the kernel."""
        return Reading(self, self._words)

    def run(self, row: tuple[Any, ...]) -> bool:
        """Whether the kernel has run; raises `KernelError` if something went wrong in it."""
        found = self.call(*row)
        if found is None:
            return True
        if found is False:
            return False
        assert isinstance(found, bytes)
        raise KernelError((self.explain(row, np.frombuffer(found, np.uint32)),))


Access = tuple[int, int, bool]  # the first byte, the one after the last, whether it is written


class Reading:
    """A plan that reads arguments and runs nothing, for launches that run later."""

    def __init__(self, plan: Plan, words: Array) -> None:
        self._plan = plan
        self.arguments, self.explain = plan.arguments, plan.explain
        self._read_words = words.copy()
        self._read_words[_READS_ONLY] = 1
        self._methods = [
            make_builtin(support().call, self._read_words),
            make_builtin(support().call_later, words),
        ]
        (_, self.capsule, self.call), (_, _, self.call_later) = self._methods
        self._facts = _packet_facts(int(words[_SLOTS]), [n for n, _ in plan.used])
        self._writes = [is_written for _, is_written in plan.used]

    def read(self, row: tuple[Any, ...]) -> PlannedLaunch | None:
        """A launch with these arguments; None if they do not fit the plan."""
        packet = self.call(*row)
        return self.launch(packet, row, self.explain) if isinstance(packet, bytearray) else None

    def launch(self, packet: bytearray, row: tuple[Any, ...], explain: Explain) -> PlannedLaunch:
        x, y, z, *ends = self._facts.unpack_from(packet)
        used = len(self._writes)
        accesses = list(zip(ends[:used], ends[used:], self._writes, strict=True))
        return PlannedLaunch(self, packet, row, explain, accesses, x == 0 or y == 0 or z == 0)


class PlannedLaunch:
    """A launch whose arguments a plan has read, to run once. It keeps them alive, in `row`.

    `accesses` is the memory that it uses; `is_empty`: its grid has no programs.
    """

    __slots__ = (
        "_explain", "_is_cancelled", "_packet", "_reading", "_row", "accesses", "is_empty",
    )  # fmt: skip

    def __init__(
        self,
        reading: Reading,
        packet: bytearray,
        row: tuple[Any, ...],
        explain: Explain,
        accesses: list[Access],
        is_empty: bool,
    ) -> None:
        self._reading, self._packet = reading, packet
        self._row, self._explain = row, explain
        self.accesses, self.is_empty = accesses, is_empty
        self._is_cancelled = False

    def run(self) -> None:
        """Runs every program of the grid; raises `KernelError` if something goes wrong."""
        if self._is_cancelled:
            return
        found = self._reading.call_later(self._packet)
        if isinstance(found, bytes):
            raise KernelError((self._explain(self._row, np.frombuffer(found, np.uint32)),))

    def cancel(self) -> None:
        """Makes a run in another thread end: no more programs start, others stop at safepoints."""
        self._is_cancelled = True
        self._packet[_CANCELLED] = 1


def _packet_facts(slots: int, used: Sequence[int]) -> struct.Struct:
    """What Python reads from a `%packet` of `call.ll`: the grid, and where used arrays lie."""
    words = [
        *range(_EXTENTS, _EXTENTS + 3),
        *(_PACKET_SLOTS + slots + n for n in used),
        *(_PACKET_SLOTS + 2 * slots + n for n in used),
    ]
    gaps = [8 * (word - before - 1) for before, word in pairwise([-1, *words])]
    return struct.Struct("=" + "".join(f"{gap}xq" for gap in gaps))


def make_builtin(address: int, words: Array) -> tuple[object, object, Callable[..., object]]:
    """A builtin function of compiled code, with a capsule of `words` as its `self`.

    Gives its method, which must live as long as the function, its capsule and itself.
    """
    method = _Method(b"launch", address, _FASTCALL, None)
    make_capsule, make_function = _makers()
    capsule = make_capsule(words.ctypes.data, None, None)
    return method, capsule, make_function(ctypes.addressof(method), capsule, None)


@cache
def _makers() -> tuple[Any, Any]:
    """`PyCapsule_New` and `PyCFunction_NewEx`. Cached: `PYFUNCTYPE` creates a class per call."""
    address, anything = ctypes.c_void_p, ctypes.py_object
    of_capsules = ctypes.PYFUNCTYPE(anything, address, address, address)
    of_functions = ctypes.PYFUNCTYPE(anything, address, anything, anything)
    api = ctypes.pythonapi
    return of_capsules(("PyCapsule_New", api)), of_functions(("PyCFunction_NewEx", api))


class _Method(ctypes.Structure):
    """CPython's `PyMethodDef`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def make_plan(
    function: Function, code: Code, layout: Layout, has_report: bool, explain: Explain
) -> Plan | None:
    """A plan for a function's launches; None if `call.ll` cannot read one of its arguments."""
    if not is_possible():
        return None
    names = [param.name for param in function.params]
    slots = [_slot(param, names, layout) for param in function.params]
    slots += [_check_only_slot(name, layout) for name in layout.row if name not in names]
    if None in slots or len(slots) > MOST_SLOTS:
        return None
    n_slot = names.index("N") if layout.block and "N" in names else -1
    most = function.programs or _MOST
    objects = (np.ndarray, int, float, None, False, True)
    head = [code[ENTRY], support().pool, len(layout.row), len(slots), n_slot, layout.block, most]
    head += [*map(id, objects), (1 << 63) - 1, int(has_report)]
    head += (
        [0, 0] if layout.tensor is None else [id(layout.tensor), _offset_of_array(layout.tensor)]
    )
    head.append(0)  # it runs the kernel
    assert len(head) == _HEAD
    words = [word for slot in slots if slot for word in (*slot, 0, 0, 0, 0)[:_SLOT]]
    constants = [value for name, value in layout.row.items() if name not in layout.values]
    used = [
        (n, layout.uses[param.name].is_written)
        for n, param in enumerate(function.params)
        if param.name in layout.uses and _is_used(layout.uses[param.name])
    ]
    return Plan([*head, *words], (code, constants), explain, used)


def _is_used(use: ArrayUse) -> bool:
    return use.is_read or use.is_written


_SLOT = 6  # words
(
    _ARRAY, _INT, _SINGLE, _DOUBLE, _EXTENT, _STRIDE, _BOOL, _NUMPY, _SAME, _IDENTICAL, _CONSTANT,
    _LOW, _HIGH,
) = range(13)  # fmt: skip

_NO_GAP = 1, 0

Slot = tuple[int, ...]


def _slot(param: Param, names: Sequence[str], layout: Layout) -> Slot | None:
    """How `call.ll` fills a parameter; `names` are those of all parameters."""
    name = param.name if param.role == "argument" else param.array
    value = layout.values[name]
    if name not in layout.row:
        return (_CONSTANT, 0, _bits(value)) if isinstance(value, np.generic) else None
    index, dtype = _argument_index(name, layout), param.value.ty.dtype
    if not isinstance(value, np.ndarray):
        return _number(index, dtype, layout.row[name], name in layout.declared)
    match param.role:
        case "extent":
            return _EXTENT, index, param.axis, dtype.max
        case "stride":
            return _STRIDE, index, param.axis, dtype.max, value.itemsize, dtype.min
        case "low" | "high":
            kind = _LOW if param.role == "low" else _HIGH
            return kind, index, names.index(name), value.itemsize
        case "argument":
            return _array(index, dtype, value, layout.uses[name])


def _array(index: int, dtype: DType, value: Array, use: ArrayUse) -> Slot:
    flags = _ALIGNED | (_WRITEABLE if use.is_written else 0)
    taken = sum(1 << axis for axis in use.taken_strides)
    if not use.is_read and not use.is_written:
        taken = _EVERY_AXIS
    axes = value.ndim | is_wide(value) << 32
    return _ARRAY, index, id(dtype.numpy), axes, flags | taken << 32, value.itemsize


def _number(index: int, dtype: DType, given: object, is_declared: bool) -> Slot | None:
    """A number that is read as its Python type; None for one that has to be converted."""
    kind = type(given)
    if kind is int and dtype.is_int:
        # an int that fits i32 has that type, unless the dtype is declared
        gap = _NO_GAP if is_declared or dtype == I32 else (I32.min, I32.max)
        return _INT, index, dtype.min, min(dtype.max, I64.max), *gap
    if kind is float and dtype.name in ("f32", "f64"):
        return (_SINGLE if dtype.name == "f32" else _DOUBLE), index
    if kind is bool and dtype == BOOL:
        return _BOOL, index
    if kind is dtype.numpy.type and kind.__module__ == "numpy":
        return _NUMPY, index, id(kind), 64 - 8 * dtype.numpy.itemsize, int(dtype.is_signed)
    return None


def _check_only_slot(name: str, layout: Layout) -> Slot | None:
    """The check of an argument that is not passed to the code, but compiled into it."""
    index, given = _argument_index(name, layout), layout.row[name]
    if name in layout.same:
        return _SAME, index, _argument_index(layout.same[name], layout)
    if type(given) is int and I64.min <= given <= I64.max:
        return _INT, index, given, given, *_NO_GAP
    return (_IDENTICAL, index, id(given)) if name not in layout.values else None


def _argument_index(name: str, layout: Layout) -> int:
    return list(layout.row).index(name)


def _bits(number: np.generic) -> int:
    content = number.tobytes()
    return int.from_bytes(content.ljust(8, b"\0"), "little", signed=True)


@cache
def _offset_of_array(tensor: Any) -> int:
    """Where an object of the class `eas.Tensor` has its array, in bytes."""
    probe, mark = object.__new__(tensor), object()
    setattr(probe, tensor.__eas_slot__, mark)
    words = range(0, tensor.__basicsize__, ctypes.sizeof(ctypes.c_void_p))
    [found] = [n for n in words if ctypes.c_void_p.from_address(id(probe) + n).value == id(mark)]
    return found


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
    return _has_scalars_behind_two_words() and (
        head.type == id(np.ndarray)
        and head.data == array.ctypes.data
        and head.axes == 2
        and (head.shape[0], head.shape[1]) == array.shape
        and (head.strides[0], head.strides[1]) == array.strides
        and head.dtype == id(array.dtype)
        and head.flags & 0x501 == 0x501
    )


def _has_scalars_behind_two_words() -> bool:
    numbers = (np.int8(-3), np.uint16(3), np.int32(-5), np.float32(1.5), np.float64(0.1), np.True_)
    return all(
        type(number).__basicsize__ >= 24
        and ctypes.string_at(id(number) + 16, number.itemsize) == number.tobytes()
        for number in numbers
    )
