"""Buffers that share memory, where they do not fit otherwise.

Two buffers of one shape and dtype in a scratch memory become one, if nothing of the one is needed
while the other is used. Barriers are inserted later: to them it is one buffer that is written
again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from eas.septran.flat.affine import Affine, affine
from eas.septran.flat.nodes import (
    Alloc,
    Copy,
    Fill,
    For,
    If,
    Map,
    ParallelFor,
    Stmt,
    View,
    accesses,
    body_of,
    walk,
)
from eas.septran.flat.substitution import change_views
from eas.support.records import frozen, replace


@frozen
class Span:
    """The statements from the first to the last, both included, by their place in the text."""

    first: int
    last: int

    def meets(self, other: Span) -> bool:
        return self.first <= other.last and other.first <= self.last


def share_memory(
    body: Sequence[Stmt], allocations: Sequence[Alloc], limits: Mapping[str, int]
) -> tuple[list[Stmt], list[Alloc]]:
    """Statements and allocations in which as many buffers are one as must be, to fit.

    `limits` are the bytes of memories. If not even that is enough, nothing is changed.
    """
    stmts, placed = list(body), list(allocations)
    for memory, limit in limits.items():
        changed, fewer = stmts, placed
        while _bytes(fewer, memory) > limit:
            pair = _find_pair(changed, fewer, memory)
            if pair is None:
                break
            changed, fewer = _as_one(changed, fewer, *pair)
        if _bytes(fewer, memory) <= limit:
            stmts, placed = changed, fewer
    return stmts, placed


def _bytes(allocations: Sequence[Alloc], memory: str) -> int:
    return sum(each.bytes for each in allocations if each.memory == memory)


def _find_pair(
    body: Sequence[Stmt], allocations: Sequence[Alloc], memory: str
) -> tuple[Alloc, Alloc] | None:
    """The largest two buffers that can be one. Those with slots are filled ahead of their use."""
    candidates = [each for each in allocations if each.memory == memory and each.slots == 1]
    candidates.sort(key=lambda each: -each.bytes)
    numbers = {id(stmt): number for number, stmt in enumerate(walk(tuple(body)))}
    for first, second in combinations(candidates, 2):
        if (first.shape, first.dtype, first.pad) != (second.shape, second.dtype, second.pad):
            continue
        a, b = (_live(body, each, numbers) for each in (first, second))
        if a is not None and b is not None and not a.meets(b):
            return first, second
    return None


def _as_one(
    body: Sequence[Stmt], allocations: Sequence[Alloc], kept: Alloc, gone: Alloc
) -> tuple[list[Stmt], list[Alloc]]:
    def change(view: View) -> View:
        return replace(view, buffer=kept.name) if view.buffer == gone.name else view

    because = (
        f"{kept.origin.because}; `{gone.name}` ({gone.origin.because}) shares its memory: both do"
        " not fit, and are not needed at the same time"
    )
    shared = replace(kept, origin=replace(kept.origin, because=because))
    placed = [shared if each is kept else each for each in allocations if each is not gone]
    return [change_views(stmt, change) for stmt in body], placed


def _live(body: Sequence[Stmt], buffer: Alloc, numbers: Mapping[int, int]) -> Span | None:
    """From the first use of a buffer to the last; all of a loop that carries it to other trips."""
    used = [stmt for stmt in body if _is_used(stmt, buffer.name)]
    if not used:
        return None
    match used:
        case [If(body=inner)]:
            return _live(inner, buffer, numbers)
        case [For(body=inner) | ParallelFor(body=inner)] if _is_rewritten(inner, buffer):
            return _live(inner, buffer, numbers)
        case _:
            last = used[-1]
            inside = [numbers[id(stmt)] for stmt in (last, *walk(body_of(last)))]
            return Span(numbers[id(used[0])], max(inside))


def _is_used(stmt: Stmt, buffer: str) -> bool:
    return any(view.buffer == buffer for each in walk((stmt,)) for view, _ in accesses(each))


def _is_rewritten(body: Sequence[Stmt], buffer: Alloc) -> bool:
    """Whether every trip begins to use a buffer by writing all that it reads later."""
    used = [stmt for stmt in body if _is_used(stmt, buffer.name)]
    if len(used) == 1 and isinstance(used[0], If):
        return _is_rewritten(used[0].body, buffer)
    first = used[0]
    if not isinstance(first, Copy | Fill | Map):
        return False
    views = [(v, how) for stmt in used for each in walk((stmt,)) for v, how in accesses(each)]
    own = [(view, how) for view, how in views if view.buffer == buffer.name]
    written, how = own[0]
    if how != "w" or [v for v, _ in accesses(first) if v.buffer == buffer.name] != [written]:
        return False
    whole = tuple(map(affine, buffer.shape))
    is_start = all(offset == Affine() for offset in written.offsets)
    return is_start and all(written.extents in (whole, view.extents) for view, _ in own)
