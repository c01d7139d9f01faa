"""Proofs that accesses are in different planes of an array because of the conditions around them.

`p * size + i` and `q * size + j` differ for different `p` and `q` if `i` and `j` are natural
numbers below `size`, whatever `size` is. A branch on `i < size` guarantees that, or a mask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from eas.ir.aliasing.affine_forms import Form, plus
from eas.ir.aliasing.lane_indices import Indices
from eas.ir.aliasing.masked_rows import is_natural, limits_of
from eas.ir.aliasing.queries import Facts
from eas.ir.nodes import Value
from eas.support.records import frozen

# A bool, and what it is wherever an access is executed.
Guard = tuple[Value, bool]


@frozen
class Plane:
    """A part of an array that begins at `number * size` and has `size` elements."""

    number: int
    size: Value


def planes_of(
    offset: Value, form: Form, indices: Indices, guards: Sequence[Guard], facts: Facts
) -> tuple[Plane, ...]:
    """The planes that an access is inside of, by its guards on the same lanes."""
    return tuple(
        plane
        for condition, holds in guards
        if condition.shape == offset.shape
        for below, size in limits_of(condition, facts, holds)
        for plane in _planes(offset, form, below, size, indices, facts)
    )


def _planes(
    offset: Value, form: Form, below: Value, size: Value, indices: Indices, facts: Facts
) -> Iterator[Plane]:
    """The plane of an offset that is a number `below` the size and a multiple of the size."""
    is_index = below.ty.dtype.is_int and below.shape == offset.shape and not size.shape
    if not is_index or not is_natural(below, facts):
        return
    rest = plus(form, facts.forms.of(below, indices), -1)
    if rest in (Form(), Form(shared={size: rest.shared.get(size, 0)})):
        yield Plane(rest.shared.get(size, 0), size)


def are_other_planes(
    a: Sequence[Plane], b: Sequence[Plane], varies: Callable[[Value], bool]
) -> bool:
    """Whether two accesses are in different planes; not by a size that may vary between them."""
    return any(
        one.size == other.size and one.number != other.number and not varies(one.size)
        for one in a
        for other in b
    )
