"""Values that are computed on first use, by one thread for all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from eas.runtime.this_process import in_forked_child

T = TypeVar("T")


def once(make: Callable[[], T]) -> Callable[[], T]:
    """`functools.cache` for threads: they wait while another one computes the value."""
    lock = threading.RLock()
    found: list[T] = []

    def forget_holder() -> None:
        """A forked process does not have the thread that held the lock."""
        nonlocal lock
        lock = threading.RLock()

    def get() -> T:
        if not found:
            with lock:
                if not found:
                    found.append(make())
        return found[0]

    in_forked_child(forget_holder)
    return get
