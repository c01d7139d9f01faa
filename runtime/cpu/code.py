"""Machine code in memory."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping


class Code:
    """The addresses of functions by name. The code is unloaded with this object."""

    def __init__(self, addresses: Mapping[str, int], unload: Callable[[], object]) -> None:
        self._addresses = addresses
        # not at exit: a daemon thread may still be running the code
        weakref.finalize(self, unload).atexit = False

    def __getitem__(self, name: str) -> int:
        return self._addresses[name]
