"""Functions that a child calls by name."""

from __future__ import annotations

import os
import signal
import time


def process_number() -> int:
    return os.getpid()


def hang() -> None:
    time.sleep(60)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def take(count: int) -> int:
    return len(bytearray(count))


def chatter() -> str:
    print("noise")
    return "quiet"
