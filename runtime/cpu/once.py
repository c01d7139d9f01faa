"""Values that are made when they are first asked for, by one thread for all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from eas.runtime.cpu.process import in_forked_child

T = TypeVar("T")


def once(make: Callable[[], T]) -> Callable[[], T]:
    """`functools.cache` for threads: those that ask while the value is made wait for it."""
    lock = threading.RLock()
    found: list[T] = []

    def forget_holder() -> None:
        """The thread that held the lock does not live on in a forked process."""
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
