"""Plans threadgroup memory (shared memory): overlays arrays that are live at different times.

Only done as far as they do not fit otherwise: the text reads better if each array has its own
memory, and overlaid arrays need more barriers. `eas.msl.schedule.barriers` inserts them: it treats
arrays in the same memory as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from eas.ir.nodes import For, While
from eas.msl.cxx.tree import Shared
from eas.msl.schedule.steps import Plan, Step, UniformControl
from eas.msl.schedule.threadgroup_arrays import Scratch
from eas.msl.schedule.threadgroup_arrays import ThreadgroupArray as Array
from eas.msl.schedule.value_sources import Finder
from eas.support.location import Loc
from eas.support.records import frozen

MAX_BYTES = 32768
SMALL_BYTES = 512

Arrays = Mapping[Array | Scratch, Shared]


@frozen
class Span:
    """A live range: the steps of a plan from the first to the last, both included."""

    first: int
    last: int

    def meets(self, other: Span) -> bool:
        return self.first <= other.last and other.first <= self.last

    def cover(self, other: Span) -> Span:
        return Span(min(self.first, other.first), max(self.last, other.last))


def overlay_arrays(plan: Plan, finder: Finder, arrays: Arrays) -> dict[Array, Array]:
    """The backing array of each array that is overlaid.

    Small arrays are only overlaid if the kernel does not fit otherwise: that needs barriers.
    """
    touches, loops = _touches(plan, finder)
    spans = {each: _span(steps, loops) for each, steps in touches.items() if each in arrays}
    large = {each: span for each, span in spans.items() if arrays[each].bytes > SMALL_BYTES}
    chosen = _assign_backings(large, arrays)
    if _bytes_with(chosen, arrays) > MAX_BYTES:
        chosen = _assign_backings(spans, arrays)
    return _without_needless(chosen, arrays)


def _bytes_with(chosen: Mapping[Array, Array], arrays: Arrays) -> int:
    return bytes_of(shared for each, shared in arrays.items() if each not in chosen)


def _without_needless(chosen: dict[Array, Array], arrays: Arrays) -> dict[Array, Array]:
    """Keeps as many arrays as fit in memory of their own: overlays need barriers."""
    left = MAX_BYTES - _bytes_with(chosen, arrays)
    for array in sorted(chosen, key=lambda each: arrays[each].bytes):
        if arrays[array].bytes <= left:
            left -= arrays[array].bytes
            del chosen[array]
    return chosen


def _assign_backings(spans: Mapping[Array, Span], arrays: Arrays) -> dict[Array, Array]:
    chosen: dict[Array, Array] = {}
    backings: dict[Array, list[Array]] = {}
    for array in sorted(spans, key=lambda each: (-arrays[each].bytes, spans[each].first)):
        for backing, overlays in backings.items():
            fits = arrays[backing].dtype.bits >= arrays[array].dtype.bits  # and so it is aligned
            if fits and not any(spans[array].meets(spans[other]) for other in overlays):
                overlays.append(array)
                chosen[array] = backing
                break
        else:
            backings[array] = [array]
    return chosen


def _touches(plan: Plan, finder: Finder) -> tuple[dict[Array, list[int]], list[Span]]:
    """The steps that use each of the compiler's arrays, and the ranges of the loops."""
    touches: dict[Array, list[int]] = {}
    loops: list[Span] = []
    number = 0

    def visit(steps: tuple[Step, ...]) -> None:
        nonlocal number
        for step in steps:
            number += 1
            for access in step.effects(finder).accesses:
                if isinstance(access.array, Array):
                    touches.setdefault(access.array, []).append(number)
            if isinstance(step, UniformControl):
                first = number
                for inner in step.plans:
                    visit(inner)
                if isinstance(step.op, For | While):
                    loops.append(Span(first, number))

    visit(plan.steps)
    return touches, loops


def _span(steps: list[int], loops: list[Span]) -> Span:
    """From the first use to the last, with all of a loop that only some uses are in."""
    span = Span(steps[0], steps[-1])
    for loop in loops:
        inside = [loop.first <= step <= loop.last for step in steps]
        if any(inside) and not all(inside):
            span = span.cover(loop)
    return span


def bytes_of(arrays: Iterable[Shared]) -> int:
    """The memory that arrays need, without those that lie in the memory of others."""
    return sum(shared.bytes for shared in arrays if shared.backing is None)


def describe_memory(arrays: Iterable[Shared]) -> tuple[str, list[str], Loc | None]:
    """The message and the table of a kernel that needs too much memory, the largest array first.

    The source position is that of the largest array.
    """
    own = sorted((each for each in arrays if each.backing is None), key=lambda each: -each.bytes)
    message = f"{bytes_of(own)} bytes of threadgroup memory, Metal has {MAX_BYTES}"
    overlays = [list(each.overlays.values()) or [each] for each in own]
    lines = [
        f"{each.bytes:>6}  {' overlaid with '.join(map(_describe, arrays_in))}"
        for each, arrays_in in zip(own, overlays, strict=True)
    ]
    return message, lines, next((each.loc for each in overlays[0] if each.loc is not None), None)


def _describe(shared: Shared) -> str:
    times = f"{shared.buffers} x " if shared.buffers > 1 else ""
    place = f" ({shared.loc})" if shared.loc is not None else ""
    return f"`{shared.hint}`, {times}{shared.size} x {shared.dtype}{place}"
