"""Limits of a launch: trips before a loop counts as endless, and elements per chunk."""

from __future__ import annotations

from collections.abc import Mapping

from eas.runtime.refusals import BadArgument
from eas.support.records import frozen


@frozen
class Limits:
    """`trips` is how often a `while` may run before it counts as endless, and `for_trips` the same
    for a `for`: more, since it ends by itself. `inner_trips` is how many trips all the loops inside
    of a `while` may make together.

    `elements` is how many elements the widest value of a chunk has: as many programs run together.
    It bounds memory, and values of the default size stay in the caches.
    """

    trips: int = 250_000
    for_trips: int = 10_000_000
    inner_trips: int = 2_000_000
    elements: int = 1 << 17


def limits_of(environment: Mapping[str, str]) -> Limits:
    """The limits that `EAS_MAX_TRIPS` asks for: so many trips of any loop."""
    text = environment.get("EAS_MAX_TRIPS", "")
    if not text:
        return Limits()
    if not text.isdecimal() or int(text) == 0:
        raise BadArgument(f"EAS_MAX_TRIPS is a number of trips, not {text!r}")
    trips = int(text)
    return Limits(trips=trips, for_trips=trips, inner_trips=8 * trips)
