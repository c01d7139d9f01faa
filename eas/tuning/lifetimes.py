"""Processes that end when nobody waits for them any more."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from glob import glob

GRACE = 10.0  # seconds: the process that waits ends this one before, if it is still there
_FOREVER = 1e8  # seconds
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

# It is looked up before a process is copied: little may be done in the copy of many threads.
_PRCTL = getattr(ctypes.CDLL(None), "prctl", None) if sys.platform == "linux" else None


def end_with_parent(parent: int) -> None:
    """Has the system end this process when its parent ends, however that happens; on Linux.

    `parent` is the number that the parent should have: it may be gone by now.
    """
    if _PRCTL is not None:
        _PRCTL(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def end_after(seconds: float) -> None:
    """Has the system end this process after so many seconds and some grace; never, for infinity.

    Whatever code runs then, this ends it, and it needs nobody who watches.
    """
    if not hasattr(signal, "setitimer"):
        return
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    is_finite = 0 < seconds < _FOREVER
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE if is_finite else 0.0)


def adopt_orphans() -> None:
    """Makes processes whose parents end children of this one; on Linux."""
    if _PRCTL is not None:
        _PRCTL(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> set[int]:
    """The processes whose parent this one is, where the system lists them."""
    found: set[int] = set()
    for path in glob("/proc/self/task/*/children"):
        with suppress(OSError), open(path, encoding="ascii") as file:
            found |= set(map(int, file.read().split()))
    return found


def end_children(kept: set[int]) -> None:
    """Ends all children but some, and what those leave: nothing else waits for them."""
    while left := children() - kept:
        for number in left:
            with suppress(OSError):
                os.kill(number, signal.SIGKILL)
            with suppress(OSError):
                os.waitpid(number, 0)
