"""Finds factors of products that a kernel has in threadgroup memory already.

Fragments read such a matrix where it lies, at the product instead of at the load. So it must lie
there row by row, and nothing may change it in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eas.ir.aliasing.affine_forms import AffineForms, Form, own_indices
from eas.ir.aliasing.disjointness import are_disjoint, are_other_slots
from eas.ir.nodes import Alloc, Atomic, Compute, Function, Load, Op, Store, Value
from eas.ir.types import I32
from eas.msl.analysis.facts import Facts, gather, is_threadgroup
from eas.msl.rewrites.accumulators import Accumulators
from eas.support.records import field, frozen, record, replace


@frozen
class Place:
    """Where a matrix lies: its first element in an array, and how far apart its rows are."""

    pointer: Value
    first: Form
    length: int


@record
class Places:
    """`found` has places by product and matrix; `unused` are values that no product needs now."""

    found: dict[tuple[Value, Value], Place] = field(
        default_factory=dict[tuple[Value, Value], Place]
    )
    unused: set[Value] = field(default_factory=set[Value])


def find_places(function: Function, dots: Sequence[Compute], known: Accumulators) -> Places:
    """The factors that products can read in place.

    Threads of a thread program are not ordered between a load and a product, so it has none.
    """
    places = Places()
    pairs = [(dot, _threadgroup_load(value, known)) for dot in dots for value in dot.operands[:2]]
    loads = [(dot, load) for dot, load in pairs if load is not None]
    if not loads or function.threads is not None:
        return places
    search = _Search(known, gather(function))
    for dot, load in loads:
        place = search.place_of(load, dot)
        if place is not None:
            places.found[dot.result, load.result] = place
    places.unused = _unused(dots, known, places)
    return places


def _threadgroup_load(value: Value, known: Accumulators) -> Load | None:
    op = known.outline.makers.get(known.without_transpose(value))
    is_found = isinstance(op, Load) and op.mask is None and is_threadgroup(op.pointer)
    return op if is_found and isinstance(op, Load) else None


def _unused(dots: Sequence[Compute], known: Accumulators, places: Places) -> set[Value]:
    """The matrices that are only read in place, and their transposes."""
    counts = dict(known.outline.counts)
    transposes: dict[Value, Value] = {}
    for dot in dots:
        for value in dot.operands[:2]:
            matrix = known.without_transpose(value)
            if (dot.result, matrix) in places.found:
                counts[value] -= 1
                if matrix != value:
                    transposes[value] = matrix
    for value, matrix in transposes.items():
        if not counts[value]:
            counts[matrix] -= 1
    touched = {*transposes, *(matrix for _, matrix in places.found)}
    return {value for value in touched if not counts[value]}


@record
class _Search:
    known: Accumulators
    facts: Facts

    def __post_init__(self) -> None:
        facts = self.facts
        self.forms = AffineForms(facts.definition, _keeps_address, facts.resolve)

    def place_of(self, load: Load, dot: Compute) -> Place | None:
        """Where a matrix lies when it is loaded, if it is still there when it is multiplied."""
        pointer = self.facts.resolve(load.pointer)
        is_plain = isinstance(self.facts.definition(pointer), Alloc) and not any(
            isinstance(use.op, Atomic) for use in self.facts.uses_of(pointer)
        )
        if not is_plain or len(load.result.shape) != len(dot.result.shape):
            return None
        place = self.affine_place(pointer, load.offset)
        writes = (op for op in self.between(load, dot) if isinstance(op, Store))
        is_changed = any(self.may_change(op, load) for op in writes)
        return None if is_changed else place

    def affine_place(self, pointer: Value, offset: Value) -> Place | None:
        """The place of a matrix whose elements have these offsets, if it lies row by row."""
        if offset.ty.dtype.bits < I32.bits:
            return None
        indices = own_indices(offset.shape)
        form = self.forms.of(offset, indices)
        axes = [index.terms[0][1] for index in indices]
        *batch, row, column = (form.lanes.get(axis, 0) for axis in axes)
        *_, rows, columns = offset.shape
        is_plain = not form.unknown and not form.strided and set(form.lanes) <= set(axes)
        is_dense = column == 1 and row >= columns and all(step == rows * row for step in batch)
        if not is_plain or not is_dense or any(value.shape for value in form.shared):
            return None
        first = replace(form, lanes={})
        fits = all(abs(number) <= I32.max for number in (first.constant, *first.shared.values()))
        return Place(pointer, first, row) if fits else None

    def between(self, load: Load, dot: Compute) -> Iterator[Op]:
        """The ops that may run after a load and before a product of what it has loaded.

        If the product is in a loop after the load, that is all of the loop.
        """
        outline, facts = self.known.outline, self.facts
        last = outline.around(outline.makers[dot.result], outline.regions[load.result])[-1]
        start, end = facts.positions[load.number], facts.positions[last.number]
        yield from facts.ops[start + 1 : end]
        yield from facts.inside(last)

    def may_change(self, store: Store, load: Load) -> bool:
        """Whether a store may be to elements of a matrix; both see the same values of a trip."""
        facts = self.facts
        if facts.resolve(store.pointer) != facts.resolve(load.pointer):
            return False
        a, b = (facts.forms.of(op.offset, own_indices(op.offset.shape)) for op in (store, load))
        return not are_disjoint(a, b) and not are_other_slots(a, b, facts)


def _keeps_address(op: Compute) -> bool:
    """Whether an op converts integers of 32 bits or more: addresses are exact modulo 2**32."""
    dtypes = [value.ty.dtype for value in (*op.operands, op.result)]
    is_wide = all(dtype.is_int and dtype.bits >= I32.bits for dtype in dtypes)
    return op.op.name == "cast" and is_wide
