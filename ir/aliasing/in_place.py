"""Finds factors of products that a kernel has in threadgroup memory already.

A product can read such a matrix where it lies, at the product instead of at the load. So it must
lie there row by row, and nothing may change it in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from eas.ir.aliasing.affine_forms import AffineForms, Form, own_indices
from eas.ir.aliasing.disjointness import are_disjoint, are_other_slots
from eas.ir.aliasing.queries import Facts
from eas.ir.nodes import (
    Alloc,
    Atomic,
    Compute,
    Function,
    Load,
    Op,
    Region,
    Store,
    Value,
    operands_of,
    regions_of,
    walk,
)
from eas.ir.types import I32
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


Accepts = Callable[[Value, Load, Place], bool]
"""Whether a back end can read a factor in place: the factor, its load, and where it lies."""


def find_places(
    function: Function,
    dots: Sequence[Compute],
    make_facts: Callable[[], Facts],
    accepts: Accepts = lambda value, load, place: True,
) -> Places:
    """The factors that products can read in place.

    Threads of a thread program are not ordered between a load and a product, so it has none.
    """
    places = Places()
    if function.threads is not None or not dots or not _has_threadgroup_memory(function):
        return places
    facts = make_facts()
    search = _Search(function, facts)
    for dot in dots:
        for value in dot.operands[:2]:
            load = facts.definition(without_transpose(value, facts.definition))
            if not isinstance(load, Load):
                continue
            place = search.place_of(load, dot)
            if place is not None and accepts(value, load, place):
                places.found[dot.result, load.result] = place
    if places.found:
        places.unused = _unused(search.ops, dots, facts, places)
    return places


def _has_threadgroup_memory(function: Function) -> bool:
    return any(isinstance(op, Alloc) for op in walk(function.body))


def without_transpose(value: Value, definition: Callable[[Value], Op | None]) -> Value:
    """The matrix that a matrix is the transpose of, else the matrix itself."""
    op = definition(value)
    return op.operands[0] if isinstance(op, Compute) and is_transpose(op) else value


def is_transpose(op: Op | None) -> bool:
    """Whether an op swaps the last two axes of a block, and no others."""
    if not isinstance(op, Compute) or op.op.name != "permute":
        return False
    *first, a, b = range(len(op.result.shape))
    return op.attr("axes") == (*first, b, a)


def _unused(ops: Iterable[Op], dots: Sequence[Compute], facts: Facts, places: Places) -> set[Value]:
    """The matrices that are only read in place, and their transposes."""
    counts = Counter(value for op in ops for value in operands_of(op))
    transposes: dict[Value, Value] = {}
    for dot in dots:
        for value in dot.operands[:2]:
            matrix = without_transpose(value, facts.definition)
            if (dot.result, matrix) in places.found:
                counts[value] -= 1
                if matrix != value:
                    transposes[value] = matrix
    for value, matrix in transposes.items():
        if not counts[value]:
            counts[matrix] -= 1
    touched = {*transposes, *(matrix for _, matrix in places.found)}
    return {value for value in touched if not counts[value]}


class _Search:
    """`ops` are those of the function in the order of the text, `ends` the last one inside of each.

    `owners` are the ops that ops are inside of, `regions` the numbers of their regions.
    """

    def __init__(self, function: Function, facts: Facts) -> None:
        self.facts = facts
        self.forms = AffineForms(facts.definition, _keeps_address, facts.resolve)
        self.ops: list[Op] = []
        self.positions: dict[int, int] = {}
        self.ends: dict[int, int] = {}
        self.owners: dict[int, Op | None] = {}
        self.regions: dict[int, int] = {}
        self._survey(function.body, None)
        self.atomics = {facts.resolve(op.pointer) for op in self.ops if isinstance(op, Atomic)}

    def _survey(self, region: Region, owner: Op | None) -> None:
        for op in region.ops:
            self.positions[op.number] = len(self.ops)
            self.owners[op.number], self.regions[op.number] = owner, region.number
            self.ops.append(op)
            for inner in regions_of(op):
                self._survey(inner, op)
            self.ends[op.number] = len(self.ops)

    def place_of(self, load: Load, dot: Compute) -> Place | None:
        """Where a matrix lies when it is loaded, if it is still there when it is multiplied."""
        pointer = self.facts.resolve(load.pointer)
        is_plain = isinstance(self.facts.definition(pointer), Alloc) and load.mask is None
        if not is_plain or pointer in self.atomics:
            return None
        if len(load.result.shape) != len(dot.result.shape):
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
        last: Op = dot
        while self.regions[last.number] != self.regions[load.number]:
            owner = self.owners[last.number]
            assert owner is not None, "the product is in no region of the load's"
            last = owner
        yield from self.ops[self.positions[load.number] + 1 : self.ends[last.number]]

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
