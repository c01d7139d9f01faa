"""Proofs that two accesses of an array are to different elements.

An offset is an affine form: a sum of multiples of uniform values, of the lane's coordinates, and of
values that are not understood. Offsets are assumed not to overflow, as in all addresses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd
from typing import TypeVar

from eas.ir.aliasing.affine_forms import Form
from eas.ir.aliasing.lane_indices import Index, Indices, Part, Symbol, add, fixed, operand_indices
from eas.ir.aliasing.queries import Facts
from eas.ir.nodes import Compute, Constant, For, Value
from eas.support.records import replace

A = TypeVar("A", Value, Part, tuple[Value, Indices])


def is_injective(form: Form, lanes: int) -> bool:
    """Whether no two of so many lanes have the same offset.

    The elements of an array do not overlap, so indices along its axes are like digits of an offset.
    """
    if form.lanes and form.strided:
        return False
    return are_distinct([form, *form.strided.values()], lanes)


def are_distinct(axes: Sequence[Form], lanes: int) -> bool:
    """Whether no two of so many lanes have the same indices along all of these axes."""
    parts = [part for axis in axes for part in axis.lanes]
    is_known = not any(axis.unknown for axis in axes)
    return is_known and all(map(_is_positional, axes)) and _identify_lane(parts, lanes)


def _is_positional(form: Form) -> bool:
    """Whether the terms are like digits: each factor exceeds the sum of all lesser terms."""
    reach = 0
    for part, factor in sorted(form.lanes.items(), key=lambda term: abs(term[1])):
        if abs(factor) <= reach:
            return False
        reach += abs(factor) * (part.extent - 1)
    return True


def _identify_lane(parts: list[Part], lanes: int) -> bool:
    """Whether these digits of a lane's index determine the index, of so many lanes."""
    known = 1
    for part in sorted(parts, key=lambda part: part.divisor):
        if not isinstance(part.base, Symbol) or part.base.extent != lanes or part.divisor > known:
            return False
        known = max(known, part.divisor * part.extent)
    return known >= lanes


def form_of(value: Value, indices: Indices, facts: Facts) -> Form:
    """The form of an offset in the lane that has these coordinates."""
    value = facts.resolve(value)
    key = (value, indices)
    if key not in facts.forms:
        facts.forms[key] = _find_form(value, indices, facts)
    return facts.forms[key]


def _find_form(value: Value, indices: Indices, facts: Facts) -> Form:
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
            return _product(operand(0), operand(1), facts)
        case _:
            return None


def _form_of_index(index: Index) -> Form:
    return Form(constant=index.offset, lanes={part: factor for factor, part in index.terms})


def _sum(a: Form, b: Form, factor: int) -> Form:
    strided = dict(a.strided)
    for stride, index in b.strided.items():
        strided[stride] = _sum(strided.get(stride, Form()), index, factor)
    return Form(
        a.constant + factor * b.constant,
        _merged(a.shared, b.shared, factor),
        _merged(a.lanes, b.lanes, factor),
        strided,
        _merged(a.unknown, b.unknown, factor),
    )


def _merged(a: Mapping[A, int], b: Mapping[A, int], factor: int) -> dict[A, int]:
    merged = dict(a)
    for atom, times in b.items():
        merged[atom] = merged.get(atom, 0) + factor * times
    return {atom: times for atom, times in merged.items() if times}


def difference(a: Form, b: Form) -> Form:
    return _sum(a, b, -1)


def _product(a: Form, b: Form, facts: Facts) -> Form | None:
    for factor, form in ((a, b), (b, a)):
        if not (factor.shared or factor.lanes or factor.strided or factor.unknown):
            return _sum(Form(), form, factor.constant)
        stride = _stride(factor, facts)
        if stride is not None and not form.strided and not form.unknown:
            return Form(strided={stride: form})
    return None


def _stride(form: Form, facts: Facts) -> Value | None:
    """The stride of an array, if that is all of a form."""
    if len(form.shared) != 1 or form.lanes or form.strided or form.unknown or form.constant:
        return None
    ((value, factor),) = form.shared.items()
    return value if factor == 1 and value in facts.strides else None


def are_disjoint(a: Form, b: Form) -> bool:
    """Whether no lane accesses by one offset what a lane accesses by the other, in any trip."""
    if a.strided or b.strided:
        return _are_different_elements(a, b)
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


def _are_different_elements(a: Form, b: Form) -> bool:
    """Whether an index along some axis of an array differs; its elements do not overlap."""
    if replace(a, strided={}) != Form() or replace(b, strided={}) != Form():
        return False
    axes = {**a.strided, **b.strided}
    return any(
        are_disjoint(a.strided.get(stride, Form()), b.strided.get(stride, Form()))
        for stride in axes
    )


def are_disjoint_across_trips(a: Form, b: Form, loop: For, facts: Facts) -> bool:
    """Whether two accesses in different trips of a loop are to different elements."""
    counter = loop.body.args[0]
    step = facts.definition(facts.resolve(loop.step))
    if a.unknown or b.unknown or a.shared != b.shared or not isinstance(step, Constant):
        return False
    if a.strided or b.strided:
        return False
    if any(facts.is_inside(value, loop) and value != counter for value in a.shared):
        return False
    (low_a, high_a), (low_b, high_b) = a.span, b.span
    reach = max(high_a - low_b, high_b - low_a) + abs(a.constant - b.constant)
    return abs(a.shared.get(counter, 0) * int(step.value)) > reach
