"""How large the values of buffers in registers are: as large as what is used of them.

A tile of 128 rows of an array that has 16 would be computed with, and masked, for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eas.septran.flat.affine import Affine
from eas.septran.flat.nodes import (
    Alloc,
    Copy,
    For,
    Kernel,
    ParallelFor,
    Start,
    Stmt,
    accesses,
    body_of,
    walk,
)
from eas.septran.flat.ranges import Ranges

Axis = tuple[str, int]  # of a buffer
_LEAST = 8  # rows and columns that a matrix product of a GPU has at least


def register_shapes(kernel: Kernel, registers: frozenset[str]) -> dict[str, tuple[int, ...]]:
    """The shapes of the values of a kernel's buffers in registers."""
    full = {
        stmt.name: stmt.shape
        for stmt in walk(kernel.body)
        if isinstance(stmt, Alloc) and stmt.memory in registers
    }
    ranges = Ranges()
    for name, extent in kernel.grid:
        ranges = ranges.inside(name, extent)
    needed = {(name, n): 1 for name, shape in full.items() for n in range(len(shape))}
    groups = {axis: {axis} for axis in needed}
    for stmt, inside in _statements(kernel.body, ranges):
        meeting: dict[tuple[Affine, int], Axis] = {}
        for axis, extent in _used(stmt):
            if axis in needed:
                needed[axis] = max(needed[axis], inside.upper(extent))
                other = meeting.setdefault((extent, full[axis[0]][axis[1]]), axis)
                _join(groups, axis, other)
    return {
        name: tuple(
            min(extent, _rounded(max(needed[each] for each in groups[name, n])))
            for n, extent in enumerate(shape)
        )
        for name, shape in full.items()
    }


def _statements(body: Sequence[Stmt], ranges: Ranges) -> Iterator[tuple[Stmt, Ranges]]:
    for stmt in body:
        yield stmt, ranges
        is_loop = isinstance(stmt, For | ParallelFor)
        inside = ranges.inside(stmt.variable, stmt.extent) if is_loop else ranges
        yield from _statements(body_of(stmt), inside)


def _used(stmt: Stmt) -> Iterator[tuple[Axis, Affine]]:
    """The axes of buffers that a statement touches, and how much of each.

    Of what a copy fills, only what it copies is needed: beyond, those who read it have masks.
    """
    for view, how in accesses(stmt):
        extents: Sequence[Affine | None] = view.extents
        if isinstance(stmt, Copy | Start) and stmt.fill is not None and how == "w":
            extents = stmt.source.shape
        for n, extent in enumerate(extents):
            if extent is not None:
                yield (view.buffer, n), extent


def _join(groups: dict[Axis, set[Axis]], first: Axis, second: Axis) -> None:
    """Axes that meet in a statement have one extent in registers."""
    joined = groups[first] | groups[second]
    groups.update(dict.fromkeys(joined, joined))


def _rounded(extent: int) -> int:
    """A power of two, which vectors and matrix products take whole."""
    return max(_LEAST, 1 << (extent - 1).bit_length())
