"""Launches that tests hold back, and kernels whose order shows in their results."""

from __future__ import annotations

import threading

import eas
from eas import mk
from tests.processes import PATIENCE


class Gate:
    """A launch that runs until it is opened."""

    def __init__(self) -> None:
        self.has_begun, self.is_open = threading.Event(), threading.Event()

    def run(self) -> None:
        self.has_begun.set()
        assert self.is_open.wait(PATIENCE), "nobody opens the gate"

    def cancel(self) -> None:
        self.is_open.set()

    def open(self) -> None:
        self.is_open.set()


@eas.kernel
def scale(x, factor, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(x, i, mk.load(x, i, i < N) * factor, i < N)


@eas.kernel
def mix(x, y, out, N, BLOCK: eas.constexpr):
    """`out` becomes a number below 251 that depends on all that was there before."""
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    old = mk.load(out, i, i < N)
    new = old * 3 + mk.load(x, i, i < N) * 5 + mk.load(y, i, i < N) * 7 + 1
    mk.store(out, i, new % 251, i < N)


@eas.kernel
def demand(x, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    assert mk.load(x, i, i < N) < 50, "too large"


@eas.kernel
def spoil(x, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(x, i, 1.0, i < N)
    assert mk.load(x, i, i < N) < 0.5, "spoiled"


@eas.kernel
def forever(x):
    i = 0
    while mk.load(x, 0) < 1.0:
        i += 1
    mk.store(x, 0, 2.0)
