"""Calls in a process of their own, with limits: whatever they do, the caller gets an answer.

`run_forked` runs a closure in a copy of this process, for what cannot be pickled: kernels of a
notebook, arrays as they are. `Child` is a fresh process that runs functions by name, for trials
that are described by data; it stays for the next one, and is replaced after it was stopped. A call
with something to prepare runs in a copy of the child: what it leaks or overwrites goes with it.

None of these processes outlives the one that asked: `end_with_parent`.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from eas.support.records import frozen
from eas.tuning.lifetimes import GRACE, end_after, end_with_parent
from eas.tuning.outcomes import Status

T = TypeVar("T")

CAN_FORK = hasattr(os, "fork")
PREPARING = 600.0  # seconds for a fresh process to start, and for what it prepares
_CHUNK = 1 << 16
LONGEST = 3600.0  # seconds of one wait: the system takes no number that is too large
_MUCH = 0.75  # of the limit: a process that dies with so much memory died of that


@frozen
class Limits:
    """`seconds` of wall time, and bytes of memory on top of what the process starts with."""

    seconds: float = 30.0
    memory: int = 4 << 30


class Stopped(Exception):
    """A call that gave no result. `status` is that of its trial."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status: Status = status
        self.reason = reason


def run_forked(call: Callable[[], T], limits: Limits, *, is_silent: bool = True) -> T:
    """The result of a call in a copy of this process; raises `Stopped` if there is none."""
    source, target = os.pipe()
    parent, before = os.getpid(), _resident()
    with warnings.catch_warnings():
        # The copy has one thread, and runs nothing that waits for another.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        os.close(source)
        _answer_and_exit(call, limits, target, parent, is_silent)
    os.close(target)
    status, peak = 0, 0
    try:
        answer = _receive(source, limits.seconds)
    finally:
        os.close(source)
        status, peak = _end(pid)
    if answer is None:
        raise _stopped_by_death(status, peak - before, limits)
    return _unpacked(answer)


def _answer_and_exit(
    call: Callable[[], Any], limits: Limits, target: int, parent: int, is_silent: bool
) -> None:
    """Never returns: nothing of the copied process may run on."""
    try:
        os.setsid()
        end_with_parent(parent)
        end_after(limits.seconds)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
        limit_memory(limits.memory)
        if is_silent:
            _silence()
        answer = answer_of(call)
        while answer:
            answer = answer[os.write(target, answer) :]
    finally:
        os._exit(0)


def _silence() -> None:
    """Drops what this process prints: of many trials, and of candidates that are wrong."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def answer_of(call: Callable[[], Any]) -> bytes:
    """The result of a call, or what went wrong, to be sent to another process."""
    try:
        return pickle.dumps(("ok", call()))
    except MemoryError:
        return pickle.dumps(("memory", "out of memory"))
    except BaseException as error:
        text = str(error) or "no message"
        return pickle.dumps(("failed", f"{type(error).__name__}: {text}"))


def _unpacked(answer: bytes) -> Any:
    try:
        status, result = pickle.loads(answer)
    except Exception:  # of a process that died while it wrote
        raise Stopped("crashed", "its answer is cut off") from None
    if status != "ok":
        raise Stopped(status, result)
    return result


def limit_memory(extra: int) -> None:
    """Lets this process take so many bytes more than it has, where the system can count them."""
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            taken = int(file.read().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = taken + extra
        if limit < (sys.maxsize if hard == resource.RLIM_INFINITY else hard):  # else it is no limit
            resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    except (ImportError, OSError, ValueError):  # a system without /proc, or without limits
        return


def _receive(source: int, seconds: float) -> bytes | None:
    """All that is sent until the other side closes; None if that is nothing."""
    deadline = time.monotonic() + seconds
    parts: list[bytes] = []
    while True:
        _wait_for(source, deadline, seconds)
        part = os.read(source, _CHUNK)
        if not part:
            return b"".join(parts) or None
        parts.append(part)


def _wait_for(source: int, deadline: float, seconds: float) -> None:
    """Waits until something can be read; raises `Stopped` at the deadline."""
    while (left := deadline - time.monotonic()) > 0:
        if select.select([source], [], [], min(left, LONGEST))[0]:
            return
    raise Stopped("timeout", f"no result after {seconds:g} s")


def _end(pid: int) -> tuple[int, int]:
    """Ends a process with all that it has started; its exit status, and the most memory it had."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    _, status, used = os.wait4(pid, 0)
    unit = 1 if sys.platform == "darwin" else 1024
    return os.waitstatus_to_exitcode(status), used.ru_maxrss * unit


def _resident() -> int:
    """The bytes of memory that a copy of this process begins with, where the system counts them.

    It shares files and shared memory, and has none of their pages before it reads them.
    """
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            _, resident, shared = map(int, file.read().split()[:3])
        return (resident - shared) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _stopped_by_death(code: int, taken: int, limits: Limits) -> Stopped:
    """A process that dies where no memory is left died of that."""
    if taken < _MUCH * limits.memory:
        return Stopped("crashed", _death(code))
    return Stopped("memory", f"{_death(code)}, after it took {taken >> 20} MiB of memory")


def _death(code: int) -> str:
    if code >= 0:
        return f"its process exited with code {code}"
    with suppress(ValueError):
        return f"its process died of {signal.Signals(-code).name}"
    return f"its process died of signal {-code}"


class Child:
    """A fresh process that calls functions of modules; `end` ends it, from any thread."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.RLock()
        self._is_over = False

    def call(
        self, function: str, *args: Any, seconds: float | None = None, prepare: str | None = None
    ) -> Any:
        """Calls `module:function` there; raises `Stopped` if that gives no result.

        `prepare` is a function that is called with the same arguments before; what it takes
        does not count as time of the call, which then runs in a copy of the process where it can.
        """
        limit = self._limits.seconds if seconds is None else seconds
        request = pickle.dumps((prepare, function, args, limit, self._limits.memory))
        waited = limit if prepare is None else limit + GRACE / 2  # the copy is stopped before
        with self._lock:
            return _unpacked(self._answer(request, waited))

    def _answer(self, request: bytes, seconds: float) -> bytes:
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(len(request).to_bytes(8, "little") + request)
            process.stdin.flush()
            _receive_one(process.stdout.fileno(), PREPARING)  # it is ready
            return _receive_one(process.stdout.fileno(), seconds)
        except (BrokenPipeError, EOFError):
            raise Stopped("crashed", _death(self.close())) from None
        except BaseException:
            self.close()
            raise

    def end(self) -> None:
        """Ends the process for good: a call in another thread, or a later one, is a crash."""
        self._is_over = True
        self.close()

    def close(self) -> int:
        """Ends the process, and gives its exit status; the next call has another one."""
        process = self._process
        if process is None:
            return 0
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with self._lock:
            if self._process is process:
                self._process = None
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
            return process.wait()

    def _started(self) -> subprocess.Popen[bytes]:
        if not self._is_over and (self._process is None or self._process.poll() is not None):
            self.close()
            command = [sys.executable, "-m", "eas.tuning.child", str(os.getpid())]
            path = os.pathsep.join(each for each in sys.path if each)
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": path},
                start_new_session=True,
            )
        if self._is_over or self._process is None:  # also if `end` was called just now
            self.close()
            raise Stopped("crashed", "its process was ended")
        return self._process


def _receive_one(source: int, seconds: float) -> bytes:
    """One answer, whose length stands before it; waits for at most so many seconds."""
    deadline = time.monotonic() + seconds
    length = int.from_bytes(_receive_exactly(source, 8, deadline, seconds), "little")
    return _receive_exactly(source, length, deadline, seconds)


def _receive_exactly(source: int, count: int, deadline: float, seconds: float) -> bytes:
    parts: list[bytes] = []
    while count:
        _wait_for(source, deadline, seconds)
        part = os.read(source, min(count, _CHUNK))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
