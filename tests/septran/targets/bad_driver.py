"""Functions in the place of `opencl_device`, with what a driver can do to its process."""

from __future__ import annotations

import ctypes
import time


def compile_source(source: object) -> None:
    """Dies as a compiler does that reads where it must not."""
    ctypes.string_at(0)


def run_source(*given: object) -> None:
    """Never ends."""
    time.sleep(3600)
