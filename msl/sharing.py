"""Lets blocks that are staged at different times lie in the same threadgroup memory.

Only done where they do not fit otherwise: the text reads better if each has an array of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from eas.ir.nodes import For, While
from eas.msl.barriers import accesses_of
from eas.msl.lanes import Layout
from eas.msl.steps import Branch, Plan, Step
from eas.msl.tree import Shared


@dataclass(frozen=True, slots=True)
class Span:
    """The steps of a plan from the first to the last, both included."""

    first: int
    last: int

    def meets(self, other: Span) -> bool:
        return self.first <= other.last and other.first <= self.last

    def cover(self, other: Span) -> Span:
        return Span(min(self.first, other.first), max(self.last, other.last))


def share_arrays(plan: Plan, layout: Layout, arrays: Mapping[str, Shared]) -> dict[str, str]:
    """For each array of a block that can lie in another one's memory, the name of that."""
    touches, loops = _touches(plan, layout)
    spans = {name: _span(places, loops) for name, places in touches.items() if name in arrays}
    chosen: dict[str, str] = {}
    homes: dict[str, list[str]] = {}
    for name in sorted(spans, key=lambda each: (-arrays[each].bytes, spans[each].first)):
        for home, tenants in homes.items():
            is_alike = arrays[home].dtype == arrays[name].dtype
            if is_alike and not any(spans[name].meets(spans[other]) for other in tenants):
                tenants.append(name)
                chosen[name] = home
                break
        else:
            homes[name] = [name]
    return chosen


def _touches(plan: Plan, layout: Layout) -> tuple[dict[str, list[int]], list[Span]]:
    """At which steps each array of a staged block is used, and where the loops are."""
    touches: dict[str, list[int]] = {}
    loops: list[Span] = []
    number = 0

    def visit(steps: tuple[Step, ...]) -> None:
        nonlocal number
        for step in steps:
            number += 1
            for name in _staged(step, layout):
                touches.setdefault(name, []).append(number)
            if isinstance(step, Branch):
                first = number
                for inner in step.plans:
                    visit(inner)
                if isinstance(step.op, For | While):
                    loops.append(Span(first, number))

    visit(plan.steps)
    return touches, loops


def _staged(step: Step, layout: Layout) -> Iterator[str]:
    for access in accesses_of(step, layout):
        if isinstance(access.array, str) and access.array.startswith("staged"):
            yield access.array


def _span(places: list[int], loops: list[Span]) -> Span:
    """From the first use to the last, with all of a loop that is entered or left in between."""
    span = Span(places[0], places[-1])
    for loop in loops:
        inside = [loop.first <= place <= loop.last for place in places]
        if any(inside) and not all(inside):
            span = span.cover(loop)
    return span
