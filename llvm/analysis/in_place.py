"""Factors of products that are read where they lie in threadgroup memory."""

from __future__ import annotations

from eas.ir.aliasing.in_place import Place, Places, find_places
from eas.ir.nodes import Alloc, Compute, Load, Value
from eas.ir.types import F32, F64, count
from eas.llvm.analysis.facts import Facts


def places_in_memory(facts: Facts, width: int) -> Places:
    """The factors that products read in place, on a machine with vectors of so many lanes.

    An array of 16-bit numbers has none: they are multiplied as numbers of f32. A matrix that is not
    known to be inside of its array is loaded, because loads are checked.
    """

    def accepts(value: Value, load: Load, place: Place) -> bool:
        alloc = facts.definition(place.pointer)
        assert isinstance(alloc, Alloc)
        is_transposed = value != load.result
        has_squares = all(extent % width == 0 for extent in value.shape[-2:])
        is_safe = not facts.function.checked or _is_inside(load, place, alloc.size, facts)
        is_stored_as_multiplied = load.result.ty.dtype in (F32, F64)
        return is_stored_as_multiplied and is_safe and (has_squares or not is_transposed)

    ops = facts.ops.values()
    dots = [op for op in ops if isinstance(op, Compute) and op.op.name == "dot"]
    return find_places(facts.function, dots, lambda: facts, accepts)


def _is_inside(load: Load, place: Place, size: int, facts: Facts) -> bool:
    """Whether all elements of a matrix are those of its array."""
    *batch, rows, columns = load.result.shape
    low = high = place.first.constant
    for value, times in place.first.shared.items():
        bounds = facts.ranges.bounds(value)
        if bounds is None:
            return False
        low += min(times * each for each in bounds)
        high += max(times * each for each in bounds)
    return low >= 0 and high + (count(tuple(batch)) * rows - 1) * place.length + columns <= size
