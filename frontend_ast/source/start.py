"""When this process was started."""

from __future__ import annotations

import os
import time
from functools import cache
from pathlib import Path

_TICK = 0.01  # seconds that Linux counts starts in; no Python has read a file of the user's by then


@cache
def started_at() -> float | None:
    """The time by the clock of files, at most a moment too late; None if the system keeps it back.

    A forked process asks for the one that has imported this module, which may be its parent.
    """
    try:
        return _by_linux() if os.path.exists("/proc/self/stat") else _by_ps()
    except (OSError, ValueError, IndexError):
        return None


def _by_linux() -> float:
    text = Path(f"/proc/{_PROCESS}/stat").read_text("ascii", "replace")
    ticks = int(text.rpartition(")")[2].split()[19])
    since_boot = time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.time() - since_boot + ticks / os.sysconf("SC_CLK_TCK") + _TICK


def _by_ps() -> float:
    """POSIX has `etime`: days, hours, minutes, seconds."""
    import subprocess  # which takes long to import, and is rarely needed

    command = ["ps", "-o", "etime=", "-p", str(_PROCESS)]
    found = subprocess.run(command, check=False, capture_output=True, text=True)
    days, _, clock = found.stdout.strip().rpartition("-")
    seconds = 0
    for part in clock.split(":"):
        seconds = 60 * seconds + int(part)
    return time.time() - 86400 * int(days or 0) - seconds - 1


_PROCESS = os.getpid()
