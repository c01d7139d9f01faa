"""Proofs that two accesses of an array touch different places.

An offset is seen as a sum of multiples: of numbers that all lanes share, of the lane's coordinates,
and of what is not understood. Offsets are taken not to overflow, as everywhere in addresses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import gcd
from typing import TypeVar

from eas.ir.nodes import Compute, Constant, For, Value
from eas.msl.facts import Facts
from eas.msl.indices import Index, Indices, Part, add, fixed, operand_indices

A = TypeVar("A", Value, Part, tuple[Value, Indices])


@dataclass(frozen=True)
class Form:
    """`sum(shared) + sum(lanes) + sum(unknown) + constant`, each term a factor and an atom."""

    constant: int = 0
    shared: Mapping[Value, int] = field(default_factory=dict[Value, int])
    lanes: Mapping[Part, int] = field(default_factory=dict[Part, int])
    unknown: Mapping[tuple[Value, Indices], int] = field(
        default_factory=dict[tuple[Value, Indices], int]
    )

    @property
    def span(self) -> tuple[int, int]:
        """The least and the greatest that the lanes' coordinates add."""
        low = sum(f * (p.extent - 1) for p, f in self.lanes.items() if f < 0)
        high = sum(f * (p.extent - 1) for p, f in self.lanes.items() if f > 0)
        return low, high


def is_injective(form: Form, lanes: int) -> bool:
    """Whether no two of so many lanes have one offset: each coordinate has its own place."""
    reach, count = 0, 1
    for part, factor in sorted(form.lanes.items(), key=lambda term: abs(term[1])):
        if abs(factor) <= reach:
            return False
        reach += abs(factor) * (part.extent - 1)
        count *= part.extent
    return not form.unknown and count >= lanes


def form_of(value: Value, indices: Indices, facts: Facts) -> Form:
    """The form of an offset in the lane that has these coordinates."""
    value = facts.resolve(value)
    op = facts.definition(value)
    if isinstance(op, Constant):
        return Form(constant=int(op.value))
    if isinstance(op, Compute):
        form = _form_of_compute(op, indices, facts)
        if form is not None:
            return form
    return Form(unknown={(value, indices): 1}) if value.shape else Form(shared={value: 1})


def _form_of_compute(op: Compute, indices: Indices, facts: Facts) -> Form | None:
    def operand(place: int) -> Form:
        return form_of(op.operands[place], operand_indices(op, indices), facts)

    match op.op.name:
        case "arange":
            start = op.attr("start")
            assert isinstance(start, int)
            return _form_of_index(add(indices[0], fixed(start)))
        case "splat" | "broadcast" | "expand_dims" | "reshape" | "permute" | "slice":
            return operand(0)
        case "cast" if op.operands[0].ty.dtype.is_int:
            return operand(0)
        case "add":
            return _sum(operand(0), operand(1), 1)
        case "sub":
            return _sum(operand(0), operand(1), -1)
        case "mul":
            return _product(operand(0), operand(1))
        case _:
            return None


def _form_of_index(index: Index) -> Form:
    return Form(constant=index.offset, lanes={part: factor for factor, part in index.terms})


def _sum(a: Form, b: Form, factor: int) -> Form:
    return Form(
        a.constant + factor * b.constant,
        _merged(a.shared, b.shared, factor),
        _merged(a.lanes, b.lanes, factor),
        _merged(a.unknown, b.unknown, factor),
    )


def _merged(a: Mapping[A, int], b: Mapping[A, int], factor: int) -> dict[A, int]:
    merged = dict(a)
    for atom, times in b.items():
        merged[atom] = merged.get(atom, 0) + factor * times
    return {atom: times for atom, times in merged.items() if times}


def _product(a: Form, b: Form) -> Form | None:
    for factor, form in ((a, b), (b, a)):
        if not factor.shared and not factor.lanes and not factor.unknown:
            return _sum(Form(), form, factor.constant)
    return None


def are_disjoint(a: Form, b: Form) -> bool:
    """Whether no lane touches by one offset what a lane touches by the other, in any trip."""
    step = 0
    for form in (a, b):
        for terms in (form.shared, form.lanes, form.unknown):
            step = gcd(step, *terms.values())
    distance = a.constant - b.constant
    if distance % step if step else distance:
        return True
    if a.unknown or b.unknown or a.shared != b.shared:
        return False
    (low_a, high_a), (low_b, high_b) = a.span, b.span
    return distance + low_a > high_b or distance + high_a < low_b


def moves_on(a: Form, b: Form, loop: For, facts: Facts) -> bool:
    """Whether two accesses in different trips of a loop are in different places."""
    counter = loop.body.args[0]
    step = facts.definition(facts.resolve(loop.step))
    if a.unknown or b.unknown or a.shared != b.shared or not isinstance(step, Constant):
        return False
    if any(facts.is_inside(value, loop) and value != counter for value in a.shared):
        return False
    (low_a, high_a), (low_b, high_b) = a.span, b.span
    reach = max(high_a - low_b, high_b - low_a) + abs(a.constant - b.constant)
    return abs(a.shared.get(counter, 0) * int(step.value)) > reach
