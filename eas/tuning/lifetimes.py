"""Processes that end when nobody waits for them any more."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

GRACE = 10.0  # seconds: the process that waits ends this one before, if it is still there
_PR_SET_PDEATHSIG = 1

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
    is_finite = 0 < seconds < float("inf")
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE if is_finite else 0.0)
