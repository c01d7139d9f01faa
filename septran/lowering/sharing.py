"""Buffers that share memory, where they do not fit otherwise.

Two buffers of one dtype in a scratch memory become one, if nothing of the one is needed while the
other is used. Along each axis it has the larger extent of the two; the pair that saves the most
bytes is taken first. Barriers are inserted later: to them it is one buffer that is written again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from eas.septran.flat.affine import ZERO, affine
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
    """The two buffers that save the most as one. Those with slots are filled ahead of their use."""
    candidates = [each for each in allocations if each.memory == memory and each.slots == 1]
    candidates.sort(key=lambda each: -each.bytes)
    numbers = {id(stmt): number for number, stmt in enumerate(walk(tuple(body)))}
    spans = {each.name: _live(body, each, numbers) for each in candidates}
    pairs = [
        (first.bytes + second.bytes - _joined(first, second).bytes, first, second)
        for first, second in combinations(candidates, 2)
        if first.dtype == second.dtype and _are_apart(spans[first.name], spans[second.name])
    ]
    saved, first, second = max(pairs, key=lambda pair: pair[0], default=(0, None, None))
    return (first, second) if saved > 0 and first is not None and second is not None else None


def _are_apart(first: Span | None, second: Span | None) -> bool:
    return first is not None and second is not None and not first.meets(second)


def _joined(kept: Alloc, gone: Alloc) -> Alloc:
    """A buffer with room for either of two, of which the one with fewer axes has the last ones."""
    rank = max(len(kept.shape), len(gone.shape))
    pairs = zip(*(_with_rank(each.shape, rank) for each in (kept, gone)), strict=True)
    shape = tuple(map(max, pairs))
    is_mixed = kept.is_mixed or gone.is_mixed or not kept.shape == gone.shape == shape
    return replace(kept, shape=shape, pad=max(kept.pad, gone.pad), is_mixed=is_mixed)


def _with_rank(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    return (1,) * (rank - len(shape)) + shape


def _as_one(
    body: Sequence[Stmt], allocations: Sequence[Alloc], kept: Alloc, gone: Alloc
) -> tuple[list[Stmt], list[Alloc]]:
    because = (
        f"{kept.origin.because}; `{gone.name}` ({gone.origin.because}) shares its memory: both do"
        " not fit, and are not needed at the same time"
    )
    joined = _joined(kept, gone)
    shared = replace(joined, origin=replace(kept.origin, because=because))

    def change(view: View) -> View:
        if view.buffer not in (kept.name, gone.name):
            return view
        more = len(joined.shape) - len(view.offsets)
        offsets, extents = (ZERO,) * more + view.offsets, (None,) * more + view.extents
        return replace(view, buffer=kept.name, offsets=offsets, extents=extents)

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
    if written.extents == whole and all(offset == ZERO for offset in written.offsets):
        return True
    place = written.offsets, written.extents
    return all((view.offsets, view.extents) == place for view, _ in own)
