"""Long loops come up for air, so that Ctrl-C ends a program that does not end by itself.

A program counts the trips of all its loops. Every so many it asks the launch whether to give up,
which lets Python look for signals, see `support.ll`.
"""

from __future__ import annotations

from eas.runtime.cpu.body import Body
from eas.runtime.cpu.emit import const

TRIPS = 1024

# What a call costs is spent in here, so that loops keep their registers.
BREATHE = """\
define internal preserve_allcc i1 @breathe(ptr %job) noinline cold {
  %place = getelementptr ptr, ptr %job, i64 13
  %asked = load ptr, ptr %place
  %gives_up = call i1 %asked(ptr %job)
  ret i1 %gives_up
}
"""


def breathe(body: Body) -> None:
    """At the end of a trip: leaves the program if the launch is to be given up."""
    e, left = body.e, body.program.trips_left()
    now = e.sub(e.get(left), const("i32", 1))
    e.set(left, now)

    def ask() -> None:
        e.set(left, const("i32", TRIPS))
        gives_up = e.value("i1", "call preserve_allcc i1 @breathe(ptr %job)")
        e.when(gives_up, e.leave)

    e.when(e.icmp("eq", now, const("i32", 0)), ask, is_rare=True)
