"""Runs OpenCL text on NumPy arrays: on PoCL, or on the first device there is.

The driver is in a process of its own (`opencl_device.py`), which all programs share: one that dies
of a driver or hangs is an error of the call, and the next call has a new one.
"""

from __future__ import annotations

import atexit
import math
import mmap
import os
import tempfile
import threading
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from eas.septran.flat.interpret import bind_shapes
from eas.septran.flat.nodes import Module
from eas.septran.targets.library import NATIVE, Library, TargetError
from eas.septran.targets.needs import MissingError, require
from eas.septran.targets.opencl import print_opencl
from eas.septran.targets.opencl_device import Answer, Launch, Part, Source
from eas.tuning.isolation import Child, Limits, Stopped

Array: TypeAlias = np.ndarray[Any, Any]

SECONDS = "EAS_OPENCL_SECONDS"  # how long a compile or a call may take
_DEFAULT_SECONDS = 600.0
_DEVICE = "eas.septran.targets.opencl_device"
_ALIGNMENT = 4096
_UNLIMITED = 1 << 61  # drivers map more addresses than there is memory


class OpenCLProgram:
    """A module that was compiled for an OpenCL device."""

    def __init__(self, module: Module, library: Library, registers: Collection[str]) -> None:
        self.module = module
        self.text = print_opencl(module, library, registers)
        require(library)
        names = tuple(f"run_{kernel.name}" for kernel in module.kernels)
        most = max((kernel.threads for kernel in module.kernels), default=1)
        self._source = Source(self.text, str(NATIVE), names, most)
        _call("compile_source", self._source, doing="compiled this")

    def __call__(self, *arrays: Array) -> None:
        """Runs on arrays, one for each parameter; those it writes are changed in place."""
        module = self.module
        sizes = bind_shapes(module, [array.shape for array in arrays])
        parts = _lay_out(module, arrays, sizes)
        launches = _launches(module, sizes)
        with _shared_file(parts) as (path, memory):
            for array, part in zip(arrays, parts, strict=False):
                if part.is_read and part.size:
                    _view(memory, part, array)[...] = array
            _call("run_source", self._source, path, parts, launches, doing="ran this")
            for array, part in zip(arrays, parts, strict=False):
                if part.is_written and part.size:
                    array[...] = _view(memory, part, array)


def require_device() -> None:
    """Raises `MissingError` if no OpenCL device here compiles kernels."""
    _call("find_device", doing="looked for a device")


def _lay_out(module: Module, arrays: Sequence[Array], sizes: dict[str, int]) -> list[Part]:
    """The parameters one after the other in the file, then the temporaries, which are not in it."""
    parts: list[Part] = []
    start = 0
    for param, array in zip(module.params, arrays, strict=True):
        parts.append(Part(start, array.nbytes, is_read=True, is_written=param.privilege != "r"))
        start += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
    for temp in module.temps:
        count = math.prod(extent.evaluate(sizes) for extent in temp.shape)
        size = count * temp.dtype.numpy.itemsize
        parts.append(Part(0, size, is_read=False, is_written=False))
    return parts


def _launches(module: Module, sizes: dict[str, int]) -> list[Launch]:
    numbers = {each.name: n for n, each in enumerate((*module.params, *module.temps))}
    values = tuple(sizes[name] for name in module.sizes)
    found: list[Launch] = []
    for number, kernel in enumerate(module.kernels):
        groups = math.prod(extent.evaluate(sizes) for _, extent in kernel.grid)
        buffers = tuple(numbers[param.name] for param in kernel.params)
        if groups:
            found.append(Launch(number, groups, kernel.threads, buffers, values))
    return found


@contextmanager
def _shared_file(parts: Sequence[Part]) -> Generator[tuple[str, mmap.mmap]]:
    """A file that two processes map; in memory, where the system has a folder for that."""
    size = max((part.start + part.size for part in parts if part.is_read), default=0)
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.NamedTemporaryFile(prefix="septran", dir=folder) as file:
        file.truncate(max(size, 1))
        with mmap.mmap(file.fileno(), 0) as memory:
            yield file.name, memory


def _view(memory: mmap.mmap, part: Part, array: Array) -> Array:
    """The bytes of a part, as an array like the one that it is a copy of."""
    found = np.frombuffer(memory, array.dtype, array.size, part.start)
    return found.reshape(array.shape)


def _call(function: str, *given: Any, doing: str) -> None:
    """Calls a function of the device's process; raises `TargetError` for whatever goes wrong."""
    child, lock = device_process(os.getpid())
    try:
        with lock:
            answer: Answer = child.call(f"{_DEVICE}:{function}", *given, seconds=_seconds())
    except Stopped as stopped:
        raise TargetError(_said(stopped, doing)) from stopped
    if answer.kind == "missing":
        raise MissingError(answer.text)
    if answer.kind == "refused":
        raise TargetError(answer.text)


def _said(stopped: Stopped, doing: str) -> str:
    if stopped.status == "crashed":
        return f"the OpenCL driver crashed while it {doing}: {stopped.reason}"
    if stopped.status == "timeout":
        more = f"set {SECONDS} if it needs more"
        return f"the OpenCL driver was stopped while it {doing}: {stopped.reason}; {more}"
    return f"the OpenCL driver failed while it {doing}: {stopped.reason}"


def _seconds() -> float:
    given = os.environ.get(SECONDS, "")
    try:
        return float(given) if given else _DEFAULT_SECONDS
    except ValueError:
        raise TargetError(f"{SECONDS} is a number of seconds, not `{given}`") from None


@cache
def device_process(owner: int) -> tuple[Child, threading.Lock]:
    """The device's process of this one, `owner`: a copy made by a fork gets its own."""
    child = Child(Limits(_DEFAULT_SECONDS, _UNLIMITED))

    def close() -> None:
        if os.getpid() == owner:
            child.close()

    atexit.register(close)
    return child, threading.Lock()
