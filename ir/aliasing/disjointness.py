"""Proofs that two accesses of an array are to different elements.

An offset is an affine form, see `affine_forms`. Offsets are assumed not to overflow, as in all
addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd

from eas.ir.aliasing.affine_forms import Form, plus
from eas.ir.aliasing.lane_indices import Part, Symbol
from eas.ir.aliasing.queries import Facts
from eas.ir.nodes import Compute, Constant, For, Value
from eas.ir.types import I32
from eas.support.records import replace


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
    """Whether these digits of a lane's index determine the index, of so many lanes.

    With the index modulo `known`, they determine it modulo any digit's place that divides it.
    """
    known = 1
    for part in sorted(parts, key=lambda part: part.divisor):
        if not isinstance(part.base, Symbol) or part.base.extent != lanes or known % part.divisor:
            return False
        known = max(known, part.divisor * part.extent)
    return known >= lanes


def difference(a: Form, b: Form) -> Form:
    return plus(a, b, -1)


def _never(value: Value) -> bool:
    del value
    return False


def are_disjoint(a: Form, b: Form, varies: Callable[[Value], bool] = _never) -> bool:
    """Whether no lane accesses by one offset what a lane accesses by the other.

    A shared value that `varies` may be another one in each of the two accesses.
    """
    if a.strided or b.strided:
        return _are_different_elements(a, b, varies)
    step = 0
    for form in (a, b):
        for terms in (form.shared, form.lanes, form.unknown):
            step = gcd(step, *terms.values())
    distance = a.constant - b.constant
    if distance % step if step else distance:
        return True
    if a.unknown or b.unknown or a.shared != b.shared or any(map(varies, a.shared)):
        return False
    (low_a, high_a), (low_b, high_b) = a.span, b.span
    return distance + low_a > high_b or distance + high_a < low_b


def _are_different_elements(a: Form, b: Form, varies: Callable[[Value], bool]) -> bool:
    """Whether an index along some axis of an array differs; its elements do not overlap."""
    if replace(a, strided={}) != Form() or replace(b, strided={}) != Form():
        return False
    axes = {**a.strided, **b.strided}
    return any(
        are_disjoint(a.strided.get(stride, Form()), b.strided.get(stride, Form()), varies)
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


def are_other_slots(a: Form, b: Form, facts: Facts) -> bool:
    """Whether two offsets of one trip are into different slots of a ring buffer.

    `(t + 1) % n * size` and `t % n * size` are, if the lanes stay inside of `size` elements.
    """
    if a.unknown or b.unknown or a.strided or b.strided:
        return False
    slots = plus(a, b, -1).shared
    if len(slots) != 2:
        return False
    (x, size), (y, other) = slots.items()
    (low_a, high_a), (low_b, high_b) = a.span, b.span
    distance = a.constant - b.constant
    reach = max(distance + high_a - low_b, high_b - low_a - distance)
    return size == -other and abs(size) > reach and _are_other_residues(x, y, facts)


def _are_other_residues(x: Value, y: Value, facts: Facts) -> bool:
    """Whether two values are remainders by one number, of values that differ modulo it."""
    first, second = (facts.definition(facts.resolve(value)) for value in (x, y))
    if not isinstance(first, Compute) or not isinstance(second, Compute):
        return False
    if first.op is not second.op or first.op.name not in ("mod", "truncmod"):
        return False
    divisor = facts.definition(facts.resolve(first.operands[1]))
    if not isinstance(divisor, Constant) or divisor.value == 0:
        return False
    (x0, n0), (x1, n1) = (
        [facts.forms.of(value, ()) for value in op.operands] for op in (first, second)
    )
    apart, number = plus(x0, x1, -1), int(divisor.value)
    is_known = n0 == n1 and _is_constant(apart) and apart.constant % number != 0
    return is_known and (
        number & (number - 1) == 0  # which divides what a sum loses that wraps
        or all(_is_count(form, op, number, facts) for form, op in ((x0, first), (x1, second)))
    )


def _is_count(form: Form, op: Compute, divisor: int, facts: Facts) -> bool:
    """Whether a dividend is near the counters of loops, so that it does not wrap as hashes do."""
    factors = (form.constant, *form.shared.values())
    is_near = all(abs(factor) <= abs(divisor) for factor in factors)
    is_natural = form.constant >= 0 or op.operands[0].ty.dtype == I32
    return is_near and is_natural and all(_is_counter(value, facts) for value in form.shared)


def _is_counter(value: Value, facts: Facts) -> bool:
    """Whether a value counts trips or programs, or is a parameter."""
    op, owner = facts.definition(value), facts.owners.get(value)
    if isinstance(owner, For):
        return value == owner.body.args[0]
    return owner is None and (op is None or (isinstance(op, Compute) and op.op.positional))


def _is_constant(form: Form) -> bool:
    return replace(form, constant=0) == Form()
