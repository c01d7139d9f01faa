"""Tensors that a launch passes twice: with copies of both a leaf would not see what it wrote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations

from eas.septran.flat.bounds import Scope
from eas.septran.flat.nodes import Stmt, View, accesses
from eas.septran.flat.races import are_disjoint
from eas.septran.flat.ranges import Ranges
from eas.septran.flat.substitution import map_view
from eas.septran.lowering.sizes import with_size


def find_conflict(
    sources: Mapping[str, View],
    views: Mapping[str, View],
    statements: Sequence[Stmt],
    ranges: Ranges,
) -> tuple[str, str] | None:
    """Two parameters that share elements, of which one is used after the other one is written.

    `sources` are the rectangles that the parameters are, `views` where a leaf finds them: two in
    one buffer are no copies of each other.
    """
    for written, other in _copied_pairs(sources, views):
        is_used = _is_used_later(views[written], views[other], statements)
        if is_used and _may_share(sources[written], sources[other], ranges):
            return written, other
    return None


def find_aliases(
    sources: Mapping[str, View], views: Mapping[str, View], ranges: Ranges
) -> dict[str, set[str]]:
    """For the buffer of a parameter those of others that hold some of the same elements."""
    found: dict[str, set[str]] = {}
    for first, second in _copied_pairs(sources, views):
        if _may_share(sources[first], sources[second], ranges):
            found.setdefault(views[first].buffer, set()).add(views[second].buffer)
    return found


def _copied_pairs(
    sources: Mapping[str, View], views: Mapping[str, View]
) -> Iterator[tuple[str, str]]:
    """Parameters that are parts of one tensor, and lie in different buffers."""
    for first, second in permutations(sources, 2):
        is_one = sources[first].buffer == sources[second].buffer
        if is_one and views[first].buffer != views[second].buffer:
            yield first, second


def _may_share(first: View, second: View, ranges: Ranges) -> bool:
    scope = Scope()
    for name, extent in ranges.extents.items():
        scope = scope.inside_loop(name, with_size(extent))
    return not are_disjoint(map_view(first, with_size), map_view(second, with_size), scope)


def _is_used_later(written: View, other: View, statements: Iterable[Stmt]) -> bool:
    is_written = False
    for stmt in statements:
        touched = list(accesses(stmt))
        if is_written and any(view == other for view, _ in touched):
            return True
        is_written = is_written or any(view == written and "w" in how for view, how in touched)
        if is_written and any(view == other and "w" in how for view, how in touched):
            return True
    return False
