"""The parent's side of a worker: it is started, asked, and ended if it takes too long."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from typing import Any

# The worker imports what this process imports, wherever it was started from.
_START = "import sys; sys.path[:] = sys.argv[1:]; from eas.analysis.worker import main; main()"


class WorkerError(Exception):
    """A worker has ended, or did not answer in time; the message says which."""


class TimeLimit(WorkerError):
    """A worker did not answer in time, and was ended."""


class Worker:
    """A process for one file. It is ended with everything that the file has started."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._answers: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def ask(self, method: str, timeout: float | None = None, **request: Any) -> Any:
        """The answer to a request; a `WorkerError` ends the worker."""
        text = json.dumps({"method": method, "path": self.path, **request})
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(text.encode() + b"\n")
            self._process.stdin.flush()
            answer = self._answers.get(timeout=timeout)
        except OSError:
            answer = b""
        except queue.Empty:
            self.close()
            raise TimeLimit(f"it did not end within {timeout:g} seconds") from None
        if not answer:
            code = self._wait_and_end()
            raise WorkerError(_how_it_ended(code))
        return json.loads(answer)

    def _wait_and_end(self) -> int:
        """The exit code of a process that closes its pipes; what it has started is ended."""
        if hasattr(os, "waitid"):
            os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        self.close()
        return self._process.returncode

    def end(self) -> None:
        """Ends the process, and those that it has started; from any thread."""
        if self._process.returncode is not None:  # its number may be that of another by now
            return
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def close(self) -> None:
        """Ends the process, and frees what belongs to it."""
        self.end()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        with contextlib.suppress(OSError, ValueError):
            for line in stdout:
                self._answers.put(line)
        self._answers.put(b"")


def _how_it_ended(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"its process was ended by {signal.Signals(-code).name}"
    return f"it ended its process, with exit code {code}"
