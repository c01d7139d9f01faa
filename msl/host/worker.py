"""The process in which kernels run: it loads libraries, runs launches and reports on them.

It is started as a script and imports nothing of ours. Requests and replies are those of
`protocol.py`, as JSON behind a length of four bytes. Arrays lie in a file that is shared with the
process that sends the requests.
"""

from __future__ import annotations

import _ctypes
import ctypes
import json
import mmap
import os
import resource
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from eas.msl.host import protocol

STACKS_BYTES = 256 << 20
PAGE = mmap.PAGESIZE
SLOTS = 31
MOST_LIBRARIES = 64
Uint3 = ctypes.c_uint * 3


class Report(ctypes.Structure):
    """`eas_report` of native/runtime.cpp."""

    _fields_ = [
        ("kind", ctypes.c_uint),
        ("group", Uint3),
        ("thread", ctypes.c_uint),
        ("waiting", ctypes.c_uint),
        ("site", ctypes.c_ulong),
        ("other_site", ctypes.c_ulong),
        ("pc", ctypes.c_ulong),
        ("other_pc", ctypes.c_ulong),
        ("callers", ctypes.c_ulong * 4),
        ("offset", ctypes.c_long),
        ("size", ctypes.c_long),
        ("buffer", ctypes.c_int),
        ("name", ctypes.c_char * 60),
    ]


class Launch(ctypes.Structure):
    """`eas_launch` of native/runtime.cpp."""

    _fields_ = [
        ("kernel", ctypes.c_void_p),
        ("buffers", ctypes.c_void_p),
        ("shared", ctypes.c_void_p),
        ("shared_bytes", ctypes.c_void_p),
        ("variables", ctypes.c_void_p),
        ("variables_end", ctypes.c_void_p),
        ("stacks", ctypes.c_void_p),
        ("stack_bytes", ctypes.c_ulong),
        ("threads", Uint3),
        ("groups", Uint3),
        ("grid", Uint3),
        ("order", ctypes.c_uint),
        ("has_fibers", ctypes.c_uint),
        ("lows", ctypes.c_void_p * SLOTS),
        ("highs", ctypes.c_void_p * SLOTS),
        ("library", ctypes.c_void_p),
        ("library_end", ctypes.c_void_p),
        ("report", Report),
    ]


class Library:
    """A library in memory: its functions, and where it lies."""

    def __init__(self, path: str) -> None:
        self.functions = ctypes.CDLL(path)
        self.low, self.high = _loaded_range(path)

    def unload(self) -> None:
        _ctypes.dlclose(self.functions._handle)


class Stacks:
    """Memory for the stacks of fibers, with a page below each that must not be touched."""

    def __init__(self) -> None:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        self._memory = mmap.mmap(-1, STACKS_BYTES, flags=flags)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._libc = ctypes.CDLL(None)
        self._count = 0

    def divide(self, count: int) -> int:
        """The size of each of so many stacks."""
        size = STACKS_BYTES // count // PAGE * PAGE
        if count != self._count:
            self._protect(self.address, STACKS_BYTES, mmap.PROT_READ | mmap.PROT_WRITE)
            for number in range(count):
                self._protect(self.address + number * size, PAGE, 0)
            self._count = count
        return size

    def _protect(self, address: int, size: int, rights: int) -> None:
        self._libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), rights)


class Worker:
    """Runs requests one after the other."""

    def __init__(self, runtime: str, shared_file: int) -> None:
        _load_math()
        self._runtime = ctypes.CDLL(runtime, mode=ctypes.RTLD_GLOBAL)
        self._libraries: dict[str, Library] = {}
        self._file = shared_file
        self._arrays: mmap.mmap | None = None
        self._stacks = Stacks()

    def run(self, request: protocol.Request) -> protocol.Report:
        """Runs one launch; returns what the runtime reports."""
        loaded, unit = self._library(request["library"]), request["unit"]
        library = loaded.functions
        base = self._base(request["bytes"])
        buffers = (ctypes.c_void_p * SLOTS)()
        launch = Launch()
        for index, offset, low, high in request["buffers"]:
            buffers[index] = base + offset
            launch.lows[index], launch.highs[index] = base + low, base + high
        shared, shared_bytes, _arrays = _shared_memory(request["shared"])
        launch.library, launch.library_end = loaded.low, loaded.high
        launch.kernel = ctypes.cast(library[request["entry"]], ctypes.c_void_p).value
        launch.buffers = ctypes.addressof(buffers)
        launch.shared = ctypes.addressof(shared)
        launch.shared_bytes = ctypes.addressof(shared_bytes)
        launch.variables = _address(library, f"eas_variables_{unit}")
        launch.variables_end = _address(library, f"eas_variables_end_{unit}")
        launch.threads = Uint3(*request["threads"])
        launch.groups = Uint3(*request["groups"])
        launch.grid = Uint3(*request["grid"])
        launch.order, launch.has_fibers = request["order"], request["has_fibers"]
        if request["has_fibers"]:
            x, y, z = request["threads"]
            launch.stacks = self._stacks.address
            launch.stack_bytes = self._stacks.divide(x * y * z)
        self._runtime.eas_run(ctypes.byref(launch))
        return _as_dict(launch.report, launch.library)

    def _library(self, path: str) -> Library:
        """A library that was not needed for long makes room for one that is."""
        library = self._libraries.pop(path, None) or Library(path)
        self._libraries[path] = library
        if len(self._libraries) > MOST_LIBRARIES:
            self._libraries.pop(next(iter(self._libraries))).unload()
        return library

    def _base(self, size: int) -> int:
        """The address of the shared arrays."""
        if self._arrays is None or len(self._arrays) < size:
            self._arrays = mmap.mmap(self._file, size)
        return ctypes.addressof(ctypes.c_char.from_buffer(self._arrays))


def _load_math() -> None:
    """Makes the functions of libm visible to kernels."""
    for name in ("libm.so.6", "libm.dylib"):
        try:
            ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue


def _shared_memory(wanted: list[tuple[int, int]]) -> tuple[Any, Any, list[Any]]:
    addresses, sizes = (ctypes.c_void_p * SLOTS)(), (ctypes.c_ulong * SLOTS)()
    arrays: list[Any] = []
    for index, size in wanted:
        arrays.append((ctypes.c_ulonglong * -(-size // 8))())
        addresses[index], sizes[index] = ctypes.addressof(arrays[-1]), size
    return addresses, sizes, arrays


def _address(library: ctypes.CDLL, function: str) -> int:
    call = library[function]
    call.restype = ctypes.c_void_p
    return call() or 0


def _loaded_range(path: str) -> tuple[int, int]:
    """Where a library lies in memory, with the memory for its variables behind it."""
    begin, end = 0, 0
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
            lines = [line.split() for line in file]
    except OSError:
        return 0, 0
    for words in lines:
        low, high = (int(number, 16) for number in words[0].split("-"))
        is_behind = low == end and len(words) < 6
        if words[-1] == path or is_behind:
            begin, end = begin or low, high
    return begin, end


def _as_dict(report: Report, library: int | None) -> protocol.Report:
    """The report; addresses of code are offsets in the library."""
    start = library or 0
    return {
        "kind": report.kind,
        "group": list(report.group),
        "thread": report.thread,
        "waiting": report.waiting,
        "site": report.site,
        "other_site": report.other_site,
        "pc": max(report.pc - start, 0),
        "other_pc": max(report.other_pc - start, 0),
        "callers": [max(address - start, 0) for address in report.callers],
        "offset": report.offset,
        "size": report.size,
        "buffer": report.buffer,
        "name": report.name.decode(),
    }


def read_message(stream: BinaryIO) -> protocol.Request | None:
    head = stream.read(4)
    if len(head) < 4:
        return None
    body = stream.read(int.from_bytes(head, "little"))
    return json.loads(body)


def write_message(stream: BinaryIO, message: protocol.Reply) -> None:
    body = json.dumps(message).encode()
    stream.write(len(body).to_bytes(4, "little") + body)
    stream.flush()


def main(runtime: str, shared_file: str, memory: str, parent: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks decides what to stop
    folder = os.path.dirname(runtime)
    threading.Thread(target=_die_with, args=(int(parent), folder), daemon=True).start()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    requests, replies = os.fdopen(0, "rb"), os.fdopen(1, "wb")
    worker = Worker(runtime, int(shared_file))
    while (request := read_message(requests)) is not None:
        try:
            reply: protocol.Reply = {"report": worker.run(request)}
        except (OSError, ValueError, AttributeError, MemoryError) as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        write_message(replies, reply)
    time.sleep(2.0)  # whoever asked is about to end, which `_die_with` waits for


def _die_with(parent: int, folder: str) -> None:
    """Ends this process with the one that started it, even in an endless kernel.

    Linux could do so itself, but would at the end of the thread that started it. A process that
    was killed could not remove its folder of libraries, which nobody else uses.
    """
    while os.getppid() == parent:
        time.sleep(1.0)
    try:
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
    except OSError:
        pass
    os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
