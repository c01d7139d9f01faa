"""Atomic updates: serialized in the order of programs and lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eas.ir.nodes import Atomic
from eas.ir.ops.record import Array
from eas.runtime.interpreter.access import check_written, find_access, gather
from eas.runtime.interpreter.active_lanes import Lanes
from eas.runtime.interpreter.chunk import Chunk
from eas.runtime.interpreter.races import check_update
from eas.support.records import frozen

_COMBINE: dict[str, Any] = {
    "add": np.add,
    "max": np.fmax,
    "min": np.fmin,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def run_atomic(chunk: Chunk, op: Atomic, lanes: Lanes) -> Lanes:
    memory = chunk.memories[op.pointer.id]
    shape = (chunk.programs.size, *op.offset.shape)
    access = find_access(chunk, op, lanes, shape)
    check_written(chunk, op, access)
    check_update(chunk, op, access, lanes)
    index, value = access.index, access.pick(chunk[op.value])
    if op.result.id in chunk.plan.unused and op.kind in _COMBINE:
        _COMBINE[op.kind].at(memory.flat, index, value)
        chunk[op.result] = np.zeros(shape, memory.flat.dtype)
        return lanes
    expected = None if op.expected is None else access.pick(chunk[op.expected])
    found = _update(op.kind, memory.flat, index, value, expected)
    chunk[op.result] = access.spread(found, np.zeros((1,) * len(shape), found.dtype))
    return lanes


def _update(kind: str, flat: Array, index: Array, value: Array, expected: Array | None) -> Array:
    """Applies the updates in order; gives the old content that each of them found."""
    order = np.argsort(index, kind="stable")
    queue = _Queue(flat, index[order], value[order])
    if expected is not None:
        found = queue.swap(expected[order])
    elif kind == "xchg":
        found = queue.exchange()
    elif kind == "add" and flat.dtype.kind not in "iu":
        found = queue.add()
    else:
        found = queue.combine(_COMBINE[kind])
    before = np.empty_like(found)
    before[order] = found
    return before


@frozen
class _Queue:
    """Updates sorted by element; those of one element are in their order."""

    flat: Array
    elements: Array
    value: Array

    def ranks(self) -> Array:
        """How many updates of the same element come before each update."""
        numbers = np.arange(self.elements.size)
        is_first = np.ones(self.elements.size, np.bool_)
        is_first[1:] = self.elements[1:] != self.elements[:-1]
        return numbers - np.maximum.accumulate(np.where(is_first, numbers, 0))

    def exchange(self) -> Array:
        found = np.where(
            self.ranks() == 0, gather(self.flat, self.elements), np.roll(self.value, 1)
        )
        self.flat[self.elements] = self.value  # of equal elements the last update stays
        return found

    def combine(self, ufunc: Any) -> Array:
        """An associative update: a segmented scan in log2(longest queue) steps."""
        ranks, start = self.ranks(), gather(self.flat, self.elements)
        after = np.where(ranks == 0, ufunc(start, self.value), self.value)
        distance, longest = 1, int(ranks.max(initial=0))
        while distance <= longest:
            joined = ufunc(after[:-distance], after[distance:])
            after[distance:] = np.where(ranks[distance:] >= distance, joined, after[distance:])
            distance *= 2
        self.flat[self.elements] = after
        return np.where(ranks == 0, start, np.roll(after, 1))

    def add(self) -> Array:
        """Floats: each sum is rounded, so the order matters."""
        return self._serialized(lambda old, now: old + self.value[now])

    def swap(self, expected: Array) -> Array:
        return self._serialized(
            lambda old, now: np.where(old == expected[now], self.value[now], old)
        )

    def _serialized(self, update: Callable[[Array, Array], Array]) -> Array:
        """Applies all first updates of elements, then all second ones, and so on."""
        ranks = self.ranks()
        order = np.argsort(ranks, kind="stable")
        ends = np.cumsum(np.bincount(ranks))
        found = np.empty_like(self.value)
        for now in np.split(order, ends[:-1]):
            found[now] = self.flat[self.elements[now]]
            self.flat[self.elements[now]] = update(found[now], now)
        return found
