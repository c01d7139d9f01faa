"""Signals that ask a command to end: it may finish what it has begun."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # Ctrl-C, `kill`, a terminal that is closed


class Interruptions:
    """Whether a signal interrupts now, by raising `KeyboardInterrupt`."""

    def __init__(self) -> None:
        self._ignored = 0

    def close(self) -> None:
        """Has the next signal ignored: what is left to do is short, and must not be cut off.

        A second one interrupts that, too: it may wait for something that never comes.
        """
        self._ignored = 1

    def handle(self, number: int, frame: FrameType | None) -> None:
        if not self._ignored:
            raise KeyboardInterrupt
        self._ignored -= 1


@contextmanager
def interruptions() -> Generator[Interruptions]:
    """Has all signals that ask a command to end interrupt it as Ctrl-C does.

    One that is ignored, as SIGHUP under `nohup`, stays ignored. In a thread, nothing changes.
    """
    found = Interruptions()
    before: dict[int, Any] = {}
    try:
        with suppress(ValueError):  # not the main thread
            for number in [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    before[number] = signal.signal(number, found.handle)
        yield found
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
