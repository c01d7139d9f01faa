"""Where a lane finds an element of a block: integer expressions of the lane's own index.

The element of a block that a lane needs is known at compile time as a function of the index `e` of
the lane in its domain: `e` itself, a coordinate `e / 32`, `e % 32`, a fixed place, ... Changes of
shape are changes of these expressions and cost nothing in the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from eas.ir.nodes import Compute
from eas.ir.ops.record import Attr
from eas.ir.types import Shape


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable from 0 to `extent - 1`: a lane's index, or the index of a loop over an axis."""

    name: str
    extent: int


@dataclass(frozen=True, slots=True)
class Part:
    """`base / divisor % modulus`; a modulus of 0 stands for none."""

    base: Symbol | Index
    divisor: int = 1
    modulus: int = 0

    @property
    def extent(self) -> int:
        """One more than its greatest value."""
        high = self.base.extent - 1 if isinstance(self.base, Symbol) else self.base.high
        whole = high // self.divisor + 1
        return min(whole, self.modulus) if self.modulus else whole


@dataclass(frozen=True, slots=True)
class Index:
    """`sum(factor * part) + offset`, the parts in a fixed order; never negative as a whole."""

    terms: tuple[tuple[int, Part], ...] = ()
    offset: int = 0

    @property
    def low(self) -> int:
        return self.offset + sum(f * (p.extent - 1) for f, p in self.terms if f < 0)

    @property
    def high(self) -> int:
        return self.offset + sum(f * (p.extent - 1) for f, p in self.terms if f > 0)


Indices = tuple[Index, ...]


def fixed(value: int) -> Index:
    return Index((), value)


def of(symbol: Symbol) -> Index:
    return fixed(0) if symbol.extent == 1 else Index(((1, Part(symbol)),))


def scale(index: Index, factor: int) -> Index:
    if factor == 0:
        return fixed(0)
    return Index(tuple((f * factor, p) for f, p in index.terms), index.offset * factor)


def add(a: Index, b: Index) -> Index:
    """The sum, with `e / 8 * 8 + e % 8` brought together again."""
    terms = list(a.terms)
    for factor, part in b.terms:
        _add_term(terms, factor, part)
    return Index(tuple(terms), a.offset + b.offset)


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
    return low_factor, _simplest(Part(low.base, low.divisor, modulus))


def _simplest(part: Part) -> Part:
    unlimited = Part(part.base, part.divisor)
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
    return Index(((1, _simplest(Part(_base(index), divisor, extent))),))


def _base(index: Index) -> Symbol | Index:
    """The symbol behind an index that is nothing but one."""
    if len(index.terms) == 1 and index.offset == 0:
        factor, part = index.terms[0]
        if factor == 1 and part.divisor == 1 and not part.modulus:
            return part.base
    return index


def _without_multiples(index: Index, modulus: int) -> Index:
    """The index without terms that a remainder does not see, if the rest stays positive."""
    kept = tuple((f, p) for f, p in index.terms if f % modulus)
    rest = Index(kept, index.offset % modulus)
    return rest if rest.low >= 0 else index


def _divided(index: Index, divisor: int) -> Index | None:
    """The quotient, if the terms fall into multiples of the divisor and a rest below it."""
    if divisor == 1:
        return index
    high = tuple((f // divisor, p) for f, p in index.terms if f % divisor == 0)
    low = Index(tuple((f, p) for f, p in index.terms if f % divisor), index.offset % divisor)
    if low.low < 0 or low.high >= divisor:
        return None
    return Index(high, index.offset // divisor)


def _nested(part: Part, divisor: int, extent: int) -> Index | None:
    """A digit of a digit, if it is a digit of the whole number."""
    if part.modulus and part.modulus % divisor:
        return None
    rest = part.modulus // divisor
    if rest and rest > extent and rest % extent:
        return None
    modulus = min(rest, extent) if rest else extent
    return Index(((1, _simplest(Part(part.base, part.divisor * divisor, modulus))),))


# --- shapes -----------------------------------------------------------------------------------


@cache
def strides(shape: Shape) -> Shape:
    """The strides of a block in row-major order."""
    result: list[int] = []
    step = 1
    for extent in reversed(shape):
        result.append(step)
        step *= extent
    return tuple(reversed(result))


def linear(indices: Indices, shape: Shape) -> Index:
    """The index in row-major order."""
    total = fixed(0)
    for index, step in zip(indices, strides(shape), strict=True):
        total = add(total, scale(index, step))
    return total


def coordinates(index: Index, shape: Shape) -> Indices:
    """The coordinates of an element in row-major order."""
    return tuple(
        digit(index, step, extent) for step, extent in zip(strides(shape), shape, strict=True)
    )


def project(indices: Indices, shape: Shape) -> Indices:
    """The coordinates in a block that is repeated along its extents of 1."""
    return tuple(fixed(0) if n == 1 else i for i, n in zip(indices, shape, strict=True))


def operand_indices(op: Compute, indices: Indices) -> Indices:
    """Where an op of the family of shapes finds what it gives at these coordinates."""
    old = op.operands[0].shape if op.operands else ()
    match op.op.name:
        case "splat":
            return ()
        case "broadcast":
            return project(indices, old)
        case "expand_dims":
            axis = _int(op.attr("axis"))
            return (*indices[:axis], *indices[axis + 1 :])
        case "reshape":
            return coordinates(linear(indices, op.result.shape), old)
        case "permute":
            axes = _ints(op.attr("axes"))
            return tuple(indices[axes.index(axis)] for axis in range(len(axes)))
        case "slice":
            starts, steps = _ints(op.attr("starts")), _ints(op.attr("steps"))
            return tuple(
                add(scale(index, step), fixed(start))
                for index, start, step in zip(indices, starts, steps, strict=True)
            )
        case "cycle":
            axis, start = _int(op.attr("axis")), _int(op.attr("start"))
            along = digit(add(indices[axis], fixed(start)), 1, old[axis])
            return (*indices[:axis], along, *indices[axis + 1 :])
        case _:
            return indices


def _int(attr: Attr) -> int:
    assert isinstance(attr, int)
    return attr


def _ints(attr: Attr) -> Shape:
    assert isinstance(attr, tuple)
    return attr
