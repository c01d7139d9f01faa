"""Arrays of more elements than i32 counts: memory that is reserved, but there only where used."""

from __future__ import annotations

import mmap
import sys
from typing import Any

import numpy as np
import pytest

Array = np.ndarray[Any, np.dtype[Any]]

_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)


def huge(shape: tuple[int, ...], dtype: str = "u1") -> Array:
    """An array of zeros, of which a page is there once it is written; skips where none can be."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    try:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE
        memory = mmap.mmap(-1, size, flags=flags)
    except (AttributeError, OSError, ValueError, OverflowError) as error:
        pytest.skip(f"no room for an array of {size} bytes: {error}")
    return np.frombuffer(memory, dtype).reshape(shape)
