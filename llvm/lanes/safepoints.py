"""Safepoints in long loops, so that Ctrl-C ends a program that does not end by itself.

A program counts the trips of all its loops. Every `TRIPS` trips it reaches a safepoint: it calls
the poll function of the launch, which lets Python handle signals (see `support.ll`), and returns if
the launch is cancelled. Large matrix products have safepoints as well.
"""

from __future__ import annotations

from eas.llvm.emit.emit import Emitter, V, const
from eas.llvm.lanes.vector_body import Body

TRIPS = 1024
POLL, CANCELLED = 13, 16  # words of a job: the poll function, and whether it is cancelled


def poll(body: Body) -> None:
    """Counts a trip of a loop, and reaches a safepoint every `TRIPS` trips."""
    e, left = body.e, body.program.trips_left()
    now = e.sub(e.get(left), const("i32", 1))
    e.set(left, now)

    def reach_safepoint() -> None:
        e.set(left, const("i32", TRIPS))
        safepoint(e)

    e.when(e.icmp("eq", now, const("i32", 0)), reach_safepoint, is_unlikely=True)


def safepoint(e: Emitter) -> None:
    """Calls the poll function, and returns from the program if the launch is cancelled."""
    poll_function = e.load("ptr", _word(e, POLL))
    e.line(f"call preserve_allcc void {poll_function.text}(ptr %job) cold")
    is_cancelled = e.icmp("ne", e.load("i64", _word(e, CANCELLED)), const("i64", 0))
    e.when(is_cancelled, e.leave, is_unlikely=True)


def _word(e: Emitter, number: int) -> V:
    return e.gep("i64", V("ptr", "%job"), const("i64", number))
