"""Calls of the C library, lane by lane: for f64, and for rare arguments."""

from __future__ import annotations

from collections.abc import Sequence

from eas.llvm.emit.emit import Emitter, V


def each_lane(e: Emitter, name: str, operands: Sequence[V]) -> V:
    """Calls a function of the C library for every lane."""
    first = operands[0]
    if not first.lanes:
        return e.call(name, first.ty, *operands)
    result = V(first.ty, "poison")
    for lane in range(first.lanes):
        numbers = [e.extract(operand, lane) for operand in operands]
        result = e.insert(result, e.call(name, first.element, *numbers), lane)
    return result
