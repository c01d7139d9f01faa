"""The element of a block that a lane needs, as integer expressions of the lane's index.

The element of a block that a lane needs is known at compile time as a function of the index `e` of
the lane in its domain: `e` itself, a coordinate `e / 32`, `e % 32`, a fixed index, ... Views
(changes of shape) only change these expressions and generate no code.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from eas.ir.nodes import Compute
from eas.ir.ops.record import Attr
from eas.ir.types import Shape
from eas.support.records import frozen


@frozen(eq=False)
class Symbol:
    """A variable from 0 to `extent - 1`: a lane's index, or the index of a loop over an axis."""

    name: str
    extent: int


@frozen(eq=False)
class Part:
    """`base / divisor % modulus`; a modulus of 0 stands for none."""

    base: Symbol | Index
    divisor: int
    modulus: int
    extent: int
    """One more than its greatest value."""


@frozen(eq=False)
class Index:
    """`sum(factor * part) + offset`, the parts in a fixed order; never negative as a whole."""

    terms: tuple[tuple[int, Part], ...]
    offset: int

    @property
    def low(self) -> int:
        return self.offset + sum(f * (p.extent - 1) for f, p in self.terms if f < 0)

    @property
    def high(self) -> int:
        return self.offset + sum(f * (p.extent - 1) for f, p in self.terms if f > 0)


Indices = tuple[Index, ...]


# Interned: equal ones are the same object, which makes comparing them cheap. So no defaults.
@cache
def make_symbol(name: str, extent: int) -> Symbol:
    return Symbol(name, extent)


@cache
def make_part(base: Symbol | Index, divisor: int, modulus: int) -> Part:
    high = base.extent - 1 if isinstance(base, Symbol) else base.high
    whole = high // divisor + 1
    return Part(base, divisor, modulus, min(whole, modulus) if modulus else whole)


@cache
def make_index(terms: tuple[tuple[int, Part], ...], offset: int) -> Index:
    return Index(terms, offset)


def fixed(value: int) -> Index:
    return make_index((), value)


def of(symbol: Symbol) -> Index:
    return fixed(0) if symbol.extent == 1 else make_index(((1, make_part(symbol, 1, 0)),), 0)


def scale(index: Index, factor: int) -> Index:
    if factor == 0:
        return fixed(0)
    return make_index(tuple((f * factor, p) for f, p in index.terms), index.offset * factor)


def add(a: Index, b: Index) -> Index:
    """The sum, with `e / 8 * 8 + e % 8` simplified to `e`."""
    terms = list(a.terms)
    for factor, part in b.terms:
        _add_term(terms, factor, part)
    return make_index(tuple(terms), a.offset + b.offset)


def _add_term(terms: list[tuple[int, Part]], factor: int, part: Part) -> None:
    for place, (other_factor, other) in enumerate(terms):
        if other == part:
            terms[place] = (factor + other_factor, part)
            if factor + other_factor == 0:
                del terms[place]
            return
        joined = _join(other_factor, other, factor, part) or _join(
            factor, part, other_factor, other
        )
        if joined is not None:
            del terms[place]
            _add_term(terms, *joined)
            return
    terms.append((factor, part))


def _join(high_factor: int, high: Part, low_factor: int, low: Part) -> tuple[int, Part] | None:
    """Two neighbouring digits of one number as one digit."""
    if high.base != low.base or not low.modulus:
        return None
    if high.divisor != low.divisor * low.modulus or high_factor != low_factor * low.modulus:
        return None
    modulus = high.modulus * low.modulus
    return low_factor, _simplest(make_part(low.base, low.divisor, modulus))


def _simplest(part: Part) -> Part:
    unlimited = make_part(part.base, part.divisor, 0)
    return unlimited if part.modulus >= unlimited.extent else part


def digit(index: Index, divisor: int, extent: int) -> Index:
    """`index / divisor % extent`, in the simplest form."""
    if divisor == 1 and index.high < extent:
        return index
    if extent == 1 or index.high < divisor:
        return fixed(0)
    index = _without_multiples(index, divisor * extent)
    exact = _divided(index, divisor)
    if exact is not None and exact.high < extent:
        return exact
    if len(index.terms) == 1 and index.offset == 0 and index.terms[0][0] == 1:
        nested = _nested(index.terms[0][1], divisor, extent)
        if nested is not None:
            return nested
    return _digit_of(_base(index), divisor, extent)


def _digit_of(base: Symbol | Index, divisor: int, modulus: int) -> Index:
    return make_index(((1, _simplest(make_part(base, divisor, modulus))),), 0)


def _base(index: Index) -> Symbol | Index:
    """The symbol that an index consists of, if that is all."""
    if len(index.terms) == 1 and index.offset == 0:
        factor, part = index.terms[0]
        if factor == 1 and part.divisor == 1 and not part.modulus:
            return part.base
    return index


def _without_multiples(index: Index, modulus: int) -> Index:
    """The index without the terms that are multiples of a modulus, if the rest stays positive."""
    kept = tuple((f, p) for f, p in index.terms if f % modulus)
    rest = make_index(kept, index.offset % modulus)
    return rest if rest.low >= 0 else index


def _divided(index: Index, divisor: int) -> Index | None:
    """The quotient, if the terms fall into multiples of the divisor and a rest below it."""
    if divisor == 1:
        return index
    high = tuple((f // divisor, p) for f, p in index.terms if f % divisor == 0)
    low = make_index(tuple((f, p) for f, p in index.terms if f % divisor), index.offset % divisor)
    if low.low < 0 or low.high >= divisor:
        return None
    return make_index(high, index.offset // divisor)


def _nested(part: Part, divisor: int, extent: int) -> Index | None:
    """A digit of a digit, if it is a digit of the whole number."""
    if part.modulus and part.modulus % divisor:
        return None
    rest = part.modulus // divisor
    if rest and rest > extent and rest % extent:
        return None
    modulus = min(rest, extent) if rest else extent
    return _digit_of(part.base, part.divisor * divisor, modulus)


@cache
def strides(shape: Shape) -> Shape:
    """The strides of a block in row-major order."""
    result: list[int] = []
    step = 1
    for extent in reversed(shape):
        result.append(step)
        step *= extent
    return tuple(reversed(result))


@cache
def linear(indices: Indices, shape: Shape) -> Index:
    """The index in row-major order."""
    total = fixed(0)
    for index, step in zip(indices, strides(shape), strict=True):
        total = add(total, scale(index, step))
    return total


@cache
def coordinates(index: Index, shape: Shape) -> Indices:
    """The coordinates of an element in row-major order."""
    return tuple(
        digit(index, step, extent) for step, extent in zip(strides(shape), shape, strict=True)
    )


@cache
def project(indices: Indices, shape: Shape) -> Indices:
    """The coordinates in a block that is repeated along its extents of 1."""
    return tuple(fixed(0) if n == 1 else i for i, n in zip(indices, shape, strict=True))


def operand_indices(op: Compute, indices: Indices) -> Indices:
    """The coordinates in its operand of what a view gives at these coordinates."""
    change = _CHANGES.get(op.op.name)
    return indices if change is None else change(op, indices)


def _of_splat(op: Compute, indices: Indices) -> Indices:
    del op, indices
    return ()


def _of_broadcast(op: Compute, indices: Indices) -> Indices:
    return project(indices, op.operands[0].shape)


def _of_expand_dims(op: Compute, indices: Indices) -> Indices:
    axis = _int(op.attr("axis"))
    return (*indices[:axis], *indices[axis + 1 :])


def _of_reshape(op: Compute, indices: Indices) -> Indices:
    return coordinates(linear(indices, op.result.shape), op.operands[0].shape)


def _of_permute(op: Compute, indices: Indices) -> Indices:
    axes = _ints(op.attr("axes"))
    return tuple(indices[axes.index(axis)] for axis in range(len(axes)))


def _of_slice(op: Compute, indices: Indices) -> Indices:
    starts, steps = _ints(op.attr("starts")), _ints(op.attr("steps"))
    return tuple(
        add(scale(index, step), fixed(start))
        for index, start, step in zip(indices, starts, steps, strict=True)
    )


def _of_cycle(op: Compute, indices: Indices) -> Indices:
    axis, start = _int(op.attr("axis")), _int(op.attr("start"))
    along = digit(add(indices[axis], fixed(start)), 1, op.operands[0].shape[axis])
    return (*indices[:axis], along, *indices[axis + 1 :])


_CHANGES: dict[str, Callable[[Compute, Indices], Indices]] = {
    "splat": _of_splat,
    "broadcast": _of_broadcast,
    "expand_dims": _of_expand_dims,
    "reshape": _of_reshape,
    "permute": _of_permute,
    "slice": _of_slice,
    "cycle": _of_cycle,
}


def _int(attr: Attr) -> int:
    assert isinstance(attr, int)
    return attr


def _ints(attr: Attr) -> Shape:
    assert isinstance(attr, tuple)
    return attr
