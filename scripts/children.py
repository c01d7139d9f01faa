"""Processes of their own for what may crash or hang, with their output as it comes."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

REPOSITORY = Path(__file__).parent.parent
LAST_SECONDS = 10.0


class Child:
    """A process in the folder of the repository; `ending` says in words if it did not end well."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.command = [sys.executable, *command]
        self.environment = {**os.environ, **environment}
        self.ending = "it was stopped"

    def output(self, patience: float) -> Generator[str]:
        """Its output, piece by piece; it is ended if it prints nothing for so many seconds."""
        process = subprocess.Popen(
            self.command,
            cwd=REPOSITORY,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for us: we end it, with all that it has started
        )
        try:
            yield from self._pieces(process, patience)
        finally:
            _signal(process, signal.SIGKILL)
            process.wait()

    def _pieces(self, process: subprocess.Popen[bytes], patience: float) -> Generator[str]:
        pieces: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        assert process.stdout is not None
        threading.Thread(target=_forward, args=(process.stdout, pieces), daemon=True).start()
        try:
            while piece := pieces.get(timeout=patience):
                yield piece.decode("utf-8", "replace")
        except queue.Empty:
            self.ending = f"it said nothing for {patience:g} seconds and was stopped"
            yield from _last_words(process, pieces)
        except KeyboardInterrupt:
            yield from _last_words(process, pieces)
            raise
        else:
            self.ending = _words_for(process.wait())


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Signals a process and its children; macOS forbids it if only an ended one is left."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _last_words(
    process: subprocess.Popen[bytes], pieces: queue.SimpleQueue[bytes]
) -> Iterator[str]:
    """Interrupts a process and yields its last output: pytest says which test was running."""
    end = time.monotonic() + LAST_SECONDS
    _signal(process, signal.SIGINT)
    with suppress(queue.Empty):
        while piece := pieces.get(timeout=max(end - time.monotonic(), 0.0)):
            yield piece.decode("utf-8", "replace")


def _forward(stream: IO[bytes], pieces: queue.SimpleQueue[bytes]) -> None:
    """Hands on what comes, and nothing at the end."""
    with stream:
        while piece := os.read(stream.fileno(), 1 << 16):
            pieces.put(piece)
    pieces.put(b"")


def _words_for(code: int) -> str:
    if code >= 0:
        return f"it ended with {code}" if code else ""
    try:
        return f"it ended with {signal.Signals(-code).name}"
    except ValueError:
        return f"it ended with signal {-code}"
