"""What tests ask about other processes."""

from __future__ import annotations

import os
import subprocess
import time
import warnings
from collections.abc import Callable

# Seconds until something that should end counts as endless, however busy the machine is.
PATIENCE = 600.0


def wait_until(holds: Callable[[], bool]) -> None:
    """Waits for something that no event announces; fails if it does not come."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.005)


def is_alive(process: int) -> bool:
    """Whether a process runs; one that has ended may still be listed."""
    done = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()[:1] not in ("", "Z")


def in_a_fork(use: Callable[[], str]) -> str:
    """What a function gives in a forked process."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python and JAX warn of forks with threads
        child = os.fork()
    if child == 0:
        try:
            os.write(writing, use().encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        message = pipe.read().decode()
    os.waitpid(child, 0)
    return message
