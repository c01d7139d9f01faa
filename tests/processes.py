"""What tests ask about other processes."""

from __future__ import annotations

import subprocess

# Seconds until something that should end counts as endless, however busy the machine is.
PATIENCE = 600.0


def is_alive(process: int) -> bool:
    """Whether a process runs; one that has ended may still be listed."""
    done = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()[:1] not in ("", "Z")
