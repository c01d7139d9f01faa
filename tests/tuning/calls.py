"""Functions that a child calls by name."""

from __future__ import annotations

import ctypes
import os
import signal
import time

STATE = {"prepared": 0, "calls": 0}


def process_number() -> int:
    return os.getpid()


def hang() -> None:
    time.sleep(600)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def take(count: int) -> int:
    return len(bytearray(count))


def chatter() -> str:
    print("noise")
    return "quiet"


def get_ready(*_: object) -> None:
    """What a copy of the process has ready."""
    STATE["prepared"] += 1


def get_ready_slowly(*_: object) -> None:
    time.sleep(1.0)


def hang_and_say(path: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{os.getpid()}\n")
    hang()


def state(*_: object) -> dict[str, int]:
    STATE["calls"] += 1
    return dict(STATE)


def run_as_asked(what: str) -> object:
    """What bad candidates do."""
    return {
        "segfault": lambda: ctypes.string_at(0),
        "abort": os.abort,
        "exit": lambda: os._exit(0),
        "hang": hang,
        "leak": lambda: take(300 << 20),
        "fill": fill_and_die,
        "number": process_number,
    }[what]()


def fill_and_die() -> None:
    """Takes memory as C does, and does not look whether there is any."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    while True:
        ctypes.memset(libc.malloc(8 << 20), 1, 8 << 20)


def leave_a_daemon() -> int:
    """The number of a process that belongs to no other one."""
    number = os.fork()
    if number == 0:
        os.setsid()
        os.closerange(3, 64)  # the answer is not waited for
        hang()
    return number


def shout() -> None:
    os.write(1, b"noise")
    os.write(2, b"noise")
