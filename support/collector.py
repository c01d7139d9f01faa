"""Python's garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def without_collector() -> Generator[None]:
    """For what makes many objects and no cycles to speak of: a compile, an import.

    The search for cycles would go through all that the process holds, over and over.
    """
    was_enabled = gc.isenabled()
    try:
        gc.disable()  # inside: a signal's handler may raise right behind it
        yield
    finally:
        if was_enabled:
            gc.enable()
