"""What a program costs: numbers that are counted in its Metal text, per loop and in all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeVar

from eas.support.records import field, frozen, record

What = Literal[
    "load", "store", "atomic", "shared", "flop", "function", "simd", "product", "barrier"
]
Key = tuple[What, int]  # with the width in bytes for loads, stores, atomics; else 0
Site = tuple[What, int]  # with the place in the text

# How long a loop is taken to be whose length is not known: only to order kernels.
ASSUMED_EXTENT = 1024
ASSUMED_TRIPS = 16
_FEW = 4  # less than one per so many threads


_K = TypeVar("_K")


def add(counts: dict[_K, float], key: _K, count: float) -> None:
    counts[key] = counts.get(key, 0.0) + count


@record(eq=False)
class Region:
    """A loop, or the whole kernel.

    The counts are sums over all threads of a program: over all trips, if their number is known, and
    over one trip otherwise. `times` is the number of trips that they are the sum of. `line` is the
    line in the Metal text, and `step` what a loop of unknown length advances by, if that is known.
    """

    head: str = ""
    line: int = 0
    is_known: bool = True
    step: int | None = None
    times: float = 0.0
    counts: dict[Key, float] = field(default_factory=dict[Key, float])
    sites: dict[Site, float] = field(default_factory=dict[Site, float])
    loops: list[Region] = field(default_factory=list["Region"])

    def loop(self, head: str, line: int, *, is_known: bool, step: int | None = None) -> Region:
        """The loop at a line; it may have been entered before."""
        for each in self.loops:
            if (each.line, each.head, each.is_known) == (line, head, is_known):
                return each
        self.loops.append(Region(head, line, is_known, step))
        return self.loops[-1]

    def add(self, other: Region) -> None:
        """Adds what was counted apart."""
        for key, count in other.counts.items():
            add(self.counts, key, count)
        for site, count in other.sites.items():
            add(self.sites, site, count)
        for loop in other.loops:
            own = self.loop(loop.head, loop.line, is_known=loop.is_known, step=loop.step)
            own.times += loop.times
            own.add(loop)

    def walk(self) -> Iterator[Region]:
        yield self
        for loop in self.loops:
            yield from loop.walk()

    @property
    def assumed_trips(self) -> float:
        """How often it runs for the order of kernels; 1 where the trips are counted."""
        if self.is_known:
            return 1.0
        return ASSUMED_TRIPS if not self.step else max(ASSUMED_EXTENT / abs(self.step), 1.0)

    def assumed(self) -> dict[Key, float]:
        """The counts of all loops together, with an assumed length where it is not known."""
        whole = dict(self.counts)
        for loop in self.loops:
            for key, count in loop.assumed().items():
                add(whole, key, count)
        return {key: count * self.assumed_trips for key, count in whole.items()}


@frozen(eq=False)
class Costs:
    """The costs of one kernel, per program."""

    kernel: str
    threads: int
    is_threads_known: bool
    threadgroup_bytes: int
    fragments: int
    root: Region

    @property
    def elements(self) -> int:
        """How many elements a program handles: those that are stored by one place of the text.

        A kernel that stores few, because it reduces, handles what one place loads. Of a loop of
        unknown length one trip counts.
        """
        choices: tuple[tuple[What, ...], ...] = (("store", "atomic"), ("load",))
        for kinds in choices:
            most = max(self._per_place(kinds), default=0.0)
            if _FEW * most >= self.threads:
                return round(most)
        return self.threads

    def _per_place(self, kinds: tuple[What, ...]) -> Iterator[float]:
        places: dict[int, float] = {}
        for region in self.root.walk():
            for (what, place), count in region.sites.items():
                if what in kinds:
                    add(places, place, count)
        yield from places.values()


@frozen
class Term:
    """A number of some kind: in all, or per trip of a loop of unknown length."""

    by_width: dict[int, float]
    loop: Region | None = None

    @property
    def total(self) -> float:
        return sum(self.by_width.values())


def terms_of(costs: Costs, what: What) -> list[Term]:
    """The number in all loops of known length, then those per trip of the others."""
    found: list[Term] = []
    _collect(costs.root, what, None, found)
    return found


def _collect(region: Region, what: What, loop: Region | None, found: list[Term]) -> None:
    """A term for the region with all loops of known length in it; the others come behind."""
    widths: dict[int, float] = {}
    unknown: list[Region] = []
    rest = [region]
    while rest:
        each = rest.pop(0)
        for (kind, width), count in each.counts.items():
            if kind == what:
                widths[width] = widths.get(width, 0.0) + count
        unknown += [inner for inner in each.loops if not inner.is_known]
        rest += [inner for inner in each.loops if inner.is_known]
    if widths:
        found.append(Term(widths, loop))
    for inner in unknown:
        _collect(inner, what, inner, found)


def barriers_per_loop(costs: Costs) -> list[tuple[Region, float]]:
    """The loops that have barriers, with their number per trip; inner loops are left out."""
    return [
        (region, region.counts["barrier", 0] / costs.threads / region.times)
        for region in costs.root.walk()
        if region is not costs.root and region.times and region.counts.get(("barrier", 0))
    ]
