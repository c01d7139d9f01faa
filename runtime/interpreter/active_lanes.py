"""The active lanes, and the join of values of lanes that took different paths.

An IR value is an array with a leading axis for the programs of the chunk, then the axes of its
block. An axis along which all elements agree may have the extent 1: a scalar that is the same in
all programs is (1,), a row of lane numbers (1, B), and so on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eas.ir.nodes import Value
from eas.ir.ops.record import Array
from eas.ir.types import Shape
from eas.support.records import frozen, record


@frozen
class Lanes:
    """The active lanes, at least one; all of the chunk if `where` is None.

    `where` has the rank 1 if whole programs are off, else the axes of the shape that splits the
    lanes follow. "No lane" is None in place of a `Lanes`.
    """

    where: Array | None = None

    def over(self, shape: Shape) -> Array | None:
        """The mask for a value of that shape; an element that stands for several lanes is active if
        any of them is."""
        where = self.where
        if where is None or where.ndim == 1:
            return where if where is None else raise_rank(where, 1 + len(shape))
        if not shape:
            return np.logical_or.reduce(where, axis=tuple(range(1, where.ndim)))
        merged = tuple(
            axis
            for axis, (ours, theirs) in enumerate(zip(where.shape[1:], shape, strict=True), 1)
            if theirs == 1 != ours
        )
        return np.logical_or.reduce(where, axis=merged, keepdims=True) if merged else where

    def chosen(self, mask: Array | None, shape: Shape) -> Array | None:
        """The active lanes of a value of that shape for which `mask` holds; None is all of them."""
        where = both(self.over(shape), mask)
        return None if where is None or where.all() else where


EVERYONE = Lanes()


def split(lanes: Lanes, condition: Array) -> tuple[Lanes | None, Lanes | None]:
    """The lanes for which the condition holds, and the others."""
    if condition.size == 1:
        return (lanes, None) if condition.item() else (None, lanes)
    if lanes.where is None:
        yes, no = condition, ~condition
    else:
        where, condition = same_rank(lanes.where, condition)
        yes, no = where & condition, where > condition
    if not no.any():
        return lanes, None
    if not yes.any():
        return None, lanes
    return Lanes(yes), Lanes(no)


def union(a: Lanes | None, b: Lanes | None) -> Lanes | None:
    if a is None or b is None:
        return a or b
    if a.where is None or b.where is None:
        return EVERYONE
    x, y = same_rank(a.where, b.where)
    return Lanes(x | y)


def without(lanes: Lanes, others: Lanes | None) -> Lanes | None:
    """The lanes that are not among the others."""
    if others is None:
        return lanes
    if others.where is None:
        return None
    if lanes.where is None:
        return _unless_empty(~others.where)
    x, y = same_rank(lanes.where, others.where)
    return _unless_empty(x > y)


def _unless_empty(where: Array) -> Lanes | None:
    return Lanes(where) if where.any() else None


def both(a: Array | None, b: Array | None) -> Array | None:
    """Two masks of one rank as one; None is true everywhere."""
    if a is None or b is None:
        return b if a is None else a
    return a & b


def raise_rank(a: Array, rank: int) -> Array:
    """The array with axes of extent 1 added at the end."""
    return a if a.ndim >= rank else a.reshape(*a.shape, *(1 for _ in range(rank - a.ndim)))


def same_rank(a: Array, b: Array) -> tuple[Array, Array]:
    return raise_rank(a, b.ndim), raise_rank(b, a.ndim)


def full(a: Array, shape: Shape) -> Array:
    """The array with all elements of its block; the programs' axis stays as it is."""
    return broadcast(a, (a.shape[0], *shape))


def broadcast(a: Array, shape: tuple[int, ...]) -> Array:
    return a if a.shape == shape else np.broadcast_to(a, shape)


@record(slots=True)
class Join:
    """Joins the values of lanes that took different paths: each path overwrites its lanes.

    `of` are the IR values of the join, `unused` the ids of those that nobody uses.
    """

    of: Sequence[Value]
    unused: set[int]
    values: list[Array] | None = None

    def add(self, lanes: Lanes, values: Sequence[Array]) -> None:
        if self.values is None:
            self.values = list(values)
            return
        for i, (value, new) in enumerate(zip(self.of, values, strict=True)):
            if self.values[i] is not new and value.id not in self.unused:
                self.values[i] = _overlay(self.values[i], new, lanes.over(value.shape))


def _overlay(old: Array, new: Array, where: Array | None) -> Array:
    return new if where is None else np.where(where, new, old)
