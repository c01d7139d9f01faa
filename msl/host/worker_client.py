"""The client of the worker: starts it, sends it requests, and survives its crashes."""

from __future__ import annotations

import json
import math
import mmap
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, cast

from eas.msl.host.build import Builder, default_builder
from eas.msl.host.errors import HostError
from eas.msl.host.protocol import Reply, Report, Request
from eas.support.records import field, frozen, record

WORKER = Path(__file__).parent / "worker.py"
MOST_REPLY_BYTES = 1 << 16
# So much of the memory for arrays stays for the next launch.
KEPT_BYTES = 64 << 20


@frozen
class Limits:
    """How long a launch may take, and how much memory its process may have."""

    seconds: float = 60.0
    memory: int = 16 << 30


@record
class Host:
    """A worker process, started when first asked and again after it ended.

    One that `is_checked` runs libraries that were built with `CHECKED`, and only these.
    """

    builder: Builder = field(default_factory=default_builder)
    limits: Limits = field(default_factory=Limits)
    is_checked: bool = False
    lock: threading.RLock = field(default_factory=threading.RLock)
    _process: subprocess.Popen[bytes] | None = None
    _ending: weakref.finalize[..., Host] | None = None
    _file: int = -1
    _arrays: mmap.mmap | None = None

    def arrays(self, size: int) -> mmap.mmap:
        """At least so many bytes that the worker sees, too."""
        if self._file < 0:
            self._file = _anonymous_file()
        if self._arrays is None or len(self._arrays) < size:
            size = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
            try:
                os.ftruncate(self._file, size)
                self._arrays = mmap.mmap(self._file, size)
            except (OSError, ValueError, OverflowError) as error:
                raise HostError(f"there is no memory for {size} bytes of arrays: {error}") from None
        return self._arrays

    @contextmanager
    def exclusive(self) -> Generator[None]:
        """Holds the lock for a launch, then gives back the memory of large arrays."""
        with self.lock:
            try:
                yield
            finally:
                self._free_pages()

    def _free_pages(self) -> None:
        """Frees pages, also those of the worker; both may go on using their addresses."""
        size = 0 if self._arrays is None else len(self._arrays)
        if self._arrays is not None and size > KEPT_BYTES and hasattr(mmap, "MADV_REMOVE"):
            with suppress(OSError):  # not every file system can
                self._arrays.madvise(mmap.MADV_REMOVE, KEPT_BYTES, size - KEPT_BYTES)

    def ask(self, request: Request, kernel: str) -> Report:
        """Has the worker run a launch; raises `HostError` if it does not answer."""
        process = self._started()
        try:
            _send(process, request)
            reply = _receive(process, time.monotonic() + self.limits.seconds)
        except TimeoutError:
            self.stop()
            message = f"it did not end within {self.limits.seconds:g} seconds and was stopped"
            raise HostError(message, kernel) from None
        except _Ended:
            raise HostError(self._death(), kernel) from None
        except _Nonsense:
            self.stop()
            message = "it has damaged the process that it ran in, which was stopped"
            raise HostError(message, kernel) from None
        except BaseException:
            self.stop()
            raise
        if "report" not in reply:
            raise HostError(f"it cannot be run: {reply.get('error')}", kernel)
        return reply["report"]

    def stop(self) -> None:
        """Ends the worker; the next launch starts another one."""
        if self._process is not None:
            self._process.kill()
            self._reap()

    @property
    def pid(self) -> int | None:
        """The worker's, while there is one."""
        return None if self._process is None else self._process.pid

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self._reap()
        if self._process is None:
            if self._file < 0:
                self._file = _anonymous_file()
            command = [
                sys.executable,
                "-I",
                "-S",
                str(WORKER),
                str(self.builder.runtime(self.is_checked)),
            ]
            command += [str(self._file), str(self.limits.memory), str(os.getpid())]
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(self._file,),
                )
            except OSError as error:
                raise HostError(f"no process for kernels can be started: {error}") from error
            self._ending = weakref.finalize(self, _end, self._process, os.getpid())
        return self._process

    def _death(self) -> str:
        """In words, how the worker ended."""
        assert self._process is not None
        code = self._process.wait()
        self._reap()
        name = _signal_name(code)
        return _DEATHS.get(name, f"its process ended with {name}")

    def _reap(self) -> None:
        process, self._process = self._process, None
        assert process is not None
        if self._ending is not None:
            self._ending.detach()
        _wait_for(process)


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    """Ends a worker with its host or at exit; a forked process leaves its parent's alone."""
    if os.getpid() == owner:
        process.kill()
        _wait_for(process)


def _wait_for(process: subprocess.Popen[bytes]) -> None:
    process.wait()
    for stream in (process.stdin, process.stdout):
        assert stream is not None
        with suppress(BrokenPipeError):
            stream.close()


_DEATHS = {
    "SIGSEGV": "it accessed memory outside of its arrays, or needs too much stack, and was "
    "stopped (SIGSEGV)",
    "SIGBUS": "it accessed memory outside of its arrays and was stopped (SIGBUS)",
    "SIGFPE": "it divided an integer by zero and was stopped (SIGFPE)",
    "SIGILL": "it ran into undefined behaviour and was stopped (SIGILL)",
    "SIGTRAP": "it ran into undefined behaviour and was stopped (SIGTRAP)",
    "SIGKILL": "its process was killed, by a user or for lack of memory (SIGKILL)",
}


def _signal_name(code: int) -> str:
    try:
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"
    except ValueError:
        return f"signal {-code}"


def _anonymous_file() -> int:
    """A file without a name, that ends with the last process that has it open.

    It is none of the first three: these are the worker's pipes, and may be free in ours.
    """
    import fcntl  # which Windows does not have

    with tempfile.TemporaryFile() if sys.platform != "linux" else _memory_file() as file:
        return fcntl.fcntl(file.fileno(), fcntl.F_DUPFD_CLOEXEC, 3)


def _memory_file() -> IO[bytes]:
    return os.fdopen(os.memfd_create("easy_as"), "wb")


class _Ended(Exception):
    """The worker is not there any more."""


class _Nonsense(Exception):
    """What the worker says is no reply."""


def _send(process: subprocess.Popen[bytes], message: Request) -> None:
    assert process.stdin is not None
    body = json.dumps(message).encode()
    try:
        process.stdin.write(len(body).to_bytes(4, "little") + body)
        process.stdin.flush()
    except BrokenPipeError:
        raise _Ended from None


def _receive(process: subprocess.Popen[bytes], deadline: float) -> Reply:
    assert process.stdout is not None
    stream = process.stdout.fileno()
    size = int.from_bytes(_read(stream, 4, deadline), "little")
    if size > MOST_REPLY_BYTES:
        raise _Nonsense
    try:
        reply: Any = json.loads(_read(stream, size, deadline))
    except ValueError:
        raise _Nonsense from None
    if type(reply) is not dict or ("report" not in reply and "error" not in reply):
        raise _Nonsense
    return cast(Reply, reply)


def _read(stream: int, size: int, deadline: float) -> bytes:
    data = b""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while len(data) < size:
            if not selector.select(max(deadline - time.monotonic(), 0.0)):
                raise TimeoutError
            more = os.read(stream, size - len(data))
            if not more:
                raise _Ended
            data += more
    return data


@cache
def _host_of(process: int, is_checked: bool) -> Host:
    del process
    return Host(limits=Limits(patience()), is_checked=is_checked)


def patience() -> float:
    """How many seconds a launch may take: a number in `EAS_HOST_SECONDS`, or the default."""
    text = os.environ.get("EAS_HOST_SECONDS", "")
    try:
        seconds = float(text) if text else Limits().seconds
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= threading.TIMEOUT_MAX:
        raise HostError(f"`EAS_HOST_SECONDS` must be a number of seconds above 0, not `{text}`")
    return seconds


def default_host() -> Host:
    """The host that launches share; a forked process has one of its own."""
    return _host_of(os.getpid(), is_checked=False)


def default_checked_host() -> Host:
    """The host that checks of texts share."""
    return _host_of(os.getpid(), is_checked=True)
