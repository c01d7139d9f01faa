"""Memory of the CPU for tensors: whole pages, and huge ones where they pay."""

from __future__ import annotations

import contextlib
import mmap
from typing import Any

import numpy as np

from eas.support.records import frozen

HUGE_PAGE = 1 << 21
LEAST_HUGE = 2 * HUGE_PAGE  # smaller blocks would waste much of a huge page

# A forked process gets a copy of the memory, as of any other.
_FLAGS = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


@frozen
class Pages:
    """Mapped pages. `view` keeps the mapping alive."""

    address: int
    view: np.ndarray[Any, np.dtype[Any]]


class CpuSource:
    """Maps new pages."""

    cuts_slabs = True

    def allocate(self, nbytes: int) -> Pages | None:
        """Pages at a multiple of their size: of a huge page, if there are many bytes."""
        is_huge = nbytes >= LEAST_HUGE
        try:
            mapped = mmap.mmap(-1, nbytes + (HUGE_PAGE if is_huge else 0), **_FLAGS)
        except (OSError, OverflowError, ValueError):
            return None
        view = np.frombuffer(mapped, np.uint8)
        address: int = view.__array_interface__["data"][0]
        if not is_huge:
            return Pages(address, view)
        if hasattr(mmap, "MADV_HUGEPAGE"):  # Linux only
            with contextlib.suppress(OSError):  # a kernel without huge pages
                mapped.madvise(mmap.MADV_HUGEPAGE)
        return Pages(-(-address // HUGE_PAGE) * HUGE_PAGE, view)
