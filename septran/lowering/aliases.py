"""Tensors that a launch passes twice: with copies of both a leaf would not see what it wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    pairs = [
        (first, second)
        for first, second in permutations(sources, 2)
        if sources[first].buffer == sources[second].buffer
        and views[first].buffer != views[second].buffer
    ]
    for written, other in pairs:
        if _is_used_later(views[written], views[other], statements):
            scope = Scope()
            for name, extent in ranges.extents.items():
                scope = scope.inside_loop(name, with_size(extent))
            first, second = (map_view(sources[each], with_size) for each in (written, other))
            if not are_disjoint(first, second, scope):
                return written, other
    return None


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
