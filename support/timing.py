"""Where compile time goes, for those who ask with `EAS_TIMING=1` or `EAS_TIMING=passes`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def timed(name: str, what: str) -> Generator[None]:
    """With `EAS_TIMING`, prints on stderr how long a part of a compile took."""
    if os.environ.get("EAS_TIMING") not in ("1", "passes"):
        yield
        return
    start = time.perf_counter()
    yield
    took = (time.perf_counter() - start) * 1000
    # in one write: other threads print too
    sys.stderr.write(f"eas: {name}: {what} took {took:.1f} ms\n")
