"""Machine code in memory."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping


class Code:
    """The addresses of some functions by name; whoever may run one keeps this object alive."""

    def __init__(self, addresses: Mapping[str, int], unload: Callable[[], object]) -> None:
        self._addresses = addresses
        # at the end of the process a daemon thread may still be running in it
        weakref.finalize(self, unload).atexit = False

    def __getitem__(self, name: str) -> int:
        return self._addresses[name]
