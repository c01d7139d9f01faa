"""The code that all kernels share, and its pool of worker threads."""

from __future__ import annotations

import _thread
import ctypes
import os
import sys
import threading
from pathlib import Path

from eas.runtime.cpu.build import build_code
from eas.runtime.cpu.once import once
from eas.runtime.refusals import BadArgument
from eas.runtime.this_process import address_of, in_forked_child, process
from eas.support.timing import timed

MOST_SLOTS = 128
MOST_TENSORS = 64
_MOST_ARGUMENTS = MOST_SLOTS + 3  # with the extents of a grid
MOST_THREADS = 1024
SERIAL_NS = 20_000  # a launch stays on the calling thread for so long
SPIN_NS = 50_000  # a worker spins for so long before it sleeps
_CLOCK = 6 if sys.platform == "darwin" else 1  # CLOCK_MONOTONIC
_MUTEX, _CONDITIONS, _WORKERS, _REGIONS, _REGION = 0, (128, 256), 400, 448, 64
_SIZE = _REGIONS + MOST_THREADS * _REGION
_PYTHON = (
    "PyCapsule_GetPointer",
    "PyLong_AsLongAndOverflow",
    "PyFloat_AsDouble",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
    "PyErr_CheckSignals",
    "PyErr_Clear",
    "PyErr_Fetch",
    "PyErr_Restore",
    "PyGILState_Ensure",
    "PyGILState_Release",
    "Py_IncRef",
    "PyBytes_FromStringAndSize",
    "PyByteArray_FromStringAndSize",
    "PyByteArray_AsString",
)


class Support:
    """`work` runs some programs of a job.

    `call`, `call_later`, `call_torch` and `replay` are the addresses of the functions of `call.ll`,
    `call_torch.ll` and `replay.ll`.
    `raise_again` raises the exception that is stored in a job.
    """

    def __init__(self) -> None:
        symbols = {name: address_of(name, ctypes.pythonapi) or 0 for name in _PYTHON}
        calls = ["eas_call", "eas_call_later", "eas_call_torch", "eas_replay"]
        exported = ["eas_worker", "eas_work", *calls]
        self._code = build_code("support", "support", _compile, exported, symbols=symbols)
        self.call = self._code["eas_call"]
        self.call_later = self._code["eas_call_later"]
        self.call_torch = self._code["eas_call_torch"]
        self.replay = self._code["eas_replay"]
        self.work = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)(
            self._code["eas_work"]
        )
        pointers = (ctypes.c_void_p,) * 3
        self.raise_again = ctypes.PYFUNCTYPE(None, *pointers)(("PyErr_Restore", ctypes.pythonapi))
        self._worker = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._code["eas_worker"])
        self.memory = ctypes.create_string_buffer(_SIZE + 64)
        self.pool = (ctypes.addressof(self.memory) + 63) & ~63
        self._reset()
        in_forked_child(self._reset)

    def _reset(self) -> None:
        """Resets the pool to no workers: a forked process has no other threads."""
        ctypes.memset(self.pool, 0, _SIZE)
        libc = process()
        libc.pthread_mutex_init(ctypes.c_void_p(self.pool + _MUTEX), None)
        for condition in _CONDITIONS:
            libc.pthread_cond_init(ctypes.c_void_p(self.pool + condition), None)
        self._lock = threading.Lock()  # another thread may have held the old one
        self._is_started = False

    def start(self) -> None:
        """Starts the workers, once."""
        if self._is_started:
            return
        with self._lock:
            if self._is_started:
                return
            workers = self._start_workers(thread_count() - 1)
            ctypes.c_int64.from_address(self.pool + _WORKERS).value = workers
            self._is_started = True

    def _start_workers(self, wanted: int) -> int:
        """Starts workers; gives how many, since the system may allow no more threads.

        They run no Python code. Nobody waits for their start or for their end.
        """
        for n in range(wanted):
            try:
                _thread.start_new_thread(self._worker, (self.pool,))
            except RuntimeError:
                return n
        return wanted


def thread_count() -> int:
    """`EAS_NUM_THREADS`, else the number of cores that this process may use."""
    chosen = os.environ.get("EAS_NUM_THREADS", "")
    if chosen:
        if not chosen.isdecimal() or not 1 <= int(chosen) <= MOST_THREADS:
            wanted = f"a number of threads from 1 to {MOST_THREADS}"
            raise BadArgument(f"EAS_NUM_THREADS is {wanted}, not {chosen!r}")
        return int(chosen)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _compile() -> bytes:
    """Without optimization: it runs once per launch, and the first launch waits for the compile."""
    from eas.runtime.cpu import jit

    folder = Path(__file__).parent
    names = ("support.ll", "call.ll", "call_torch.ll", "replay.ll")
    text = "".join((folder / name).read_text("utf-8") for name in names)
    times = {"CLOCK": _CLOCK, "SERIAL_NS": SERIAL_NS, "SPIN_NS": SPIN_NS}
    sizes = {"SLOTS": MOST_SLOTS, "TENSORS": MOST_TENSORS, "ARGUMENTS": _MOST_ARGUMENTS}
    numbers = times | sizes
    for name, number in numbers.items():
        text = text.replace(f" {name},", f" {number},").replace(f"[{name} ", f"[{number} ")
        text = text.replace(f" {name}\n", f" {number}\n")
    text = text.replace(" PRESERVING ", f" {_preserving_attributes()} ")
    with timed("support", "compiling it"):
        return jit.plain_object_code(text)


def _preserving_attributes() -> str:
    """Attributes of a function that preserves all registers.

    On x86, LLVM would emit `vzeroupper` before it returns.
    """
    from eas.runtime.cpu import jit, llvm

    if not jit.is_x86():
        return ""
    features = ",".join(part for part in (llvm.host_features(), "-vzeroupper") if part)
    return f'"target-cpu"="{llvm.host_name()}" "target-features"="{features}"'


@once
def support() -> Support:
    return Support()
