"""Integer expressions of the flat IR: affine in loop variables and sizes, in one normal form.

An expression is a constant plus multiples of atoms. An atom is a name (a loop variable or a size),
a floor division or a remainder by a constant, or a minimum or maximum. Every operation gives the
normal form, so two expressions that are written differently but are equal after collecting terms
are equal as records, and `str` of both is the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import gcd
from typing import TypeAlias

from eas.support.records import frozen


class AffineError(ValueError):
    """An operation whose result is not affine, such as the product of two variables."""


@frozen
class Floor:
    """`operand // divisor`; the divisor is at least 2."""

    operand: Affine
    divisor: int

    def __str__(self) -> str:
        return f"{_factor(self.operand)} // {self.divisor}"


@frozen
class Mod:
    """`operand % divisor`, which lies in `0 .. divisor - 1`; the divisor is at least 2."""

    operand: Affine
    divisor: int

    def __str__(self) -> str:
        return f"{_factor(self.operand)} % {self.divisor}"


@frozen
class Min:
    """The least of at least two expressions."""

    operands: tuple[Affine, ...]

    def __str__(self) -> str:
        return f"min({', '.join(map(str, self.operands))})"


@frozen
class Max:
    """The greatest of at least two expressions."""

    operands: tuple[Affine, ...]

    def __str__(self) -> str:
        return f"max({', '.join(map(str, self.operands))})"


Atom: TypeAlias = str | Floor | Mod | Min | Max
Number: TypeAlias = "Affine | int | str"
Terms: TypeAlias = tuple[tuple[Atom, int], ...]


@frozen
class Affine:
    """`constant + sum(coefficient * atom)`; the terms are sorted, no coefficient is zero."""

    constant: int = 0
    terms: Terms = ()

    def __add__(self, other: Number) -> Affine:
        if isinstance(other, int):
            return Affine(self.constant + other, self.terms)
        right = affine(other)
        return _sum(self.constant + right.constant, self.terms, right.terms)

    def __radd__(self, other: Number) -> Affine:
        return self + other

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: Number) -> Affine:
        return self + (-other if isinstance(other, int) else affine(other) * -1)

    def __rsub__(self, other: Number) -> Affine:
        return affine(other) - self

    def __mul__(self, other: Number) -> Affine:
        right = affine(other)
        if right.terms and self.terms:
            raise AffineError(f"`{self}` times `{right}` is not affine")
        scaled, factor = (right, self.constant) if right.terms else (self, right.constant)
        terms = tuple([(a, c * factor) for a, c in scaled.terms]) if factor else ()
        return Affine(scaled.constant * factor, terms)

    def __rmul__(self, other: Number) -> Affine:
        return self * other

    def __floordiv__(self, divisor: int) -> Affine:
        return _floor(self, divisor)

    def __mod__(self, divisor: int) -> Affine:
        return _mod(self, divisor)

    def __str__(self) -> str:
        ordered = sorted(self.terms, key=lambda term: term[1] < 0)
        text = "".join(_signed(_multiple(atom, abs(c)), c < 0) for atom, c in ordered)
        if self.constant or not text:
            text += _signed(str(abs(self.constant)), self.constant < 0)
        if text.startswith(" + "):
            return text[3:]
        # `-i // 2` would be the division of `-i`.
        is_divided = (
            bool(ordered) and ordered[0][1] == -1 and isinstance(ordered[0][0], Floor | Mod)
        )
        first = str(ordered[0][0]) if is_divided else ""
        return f"-({first}){text[3 + len(first) :]}" if is_divided else f"-{text[3:]}"

    @property
    def is_constant(self) -> bool:
        return not self.terms

    @property
    def value(self) -> int:
        """The value of a constant."""
        if self.terms:
            raise AffineError(f"`{self}` is not constant")
        return self.constant

    @property
    def names(self) -> frozenset[str]:
        """All variables and sizes, also those inside of atoms."""
        return frozenset(_names(self))

    def coefficient(self, atom: Atom) -> int:
        """What an atom is multiplied with; occurrences inside of other atoms do not count."""
        return next((c for each, c in self.terms if each == atom), 0)

    def without(self, atom: Atom) -> Affine:
        """The expression less the term of an atom."""
        return Affine(self.constant, tuple(term for term in self.terms if term[0] != atom))

    def substitute(self, values: Mapping[str, Number]) -> Affine:
        """The expression with names replaced; names that are not given stay."""
        if not self.terms or not values:
            return self
        return self._rebuild(lambda name: affine(values.get(name, name)))

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The number that it is; raises `KeyError` for a name without a value."""
        total = self.constant
        for atom, coefficient in self.terms:
            total += coefficient * _evaluate(atom, values)
        return total

    def _rebuild(self, replace: Callable[[str], Affine]) -> Affine:
        total = Affine(self.constant)
        for atom, coefficient in self.terms:
            total += _rebuilt(atom, replace) * coefficient
        return total


ZERO = Affine()
ONE = Affine(1)


def affine(number: Number) -> Affine:
    """A number or a name as an expression."""
    if isinstance(number, Affine):
        return number
    return Affine(number) if isinstance(number, int) else Affine(0, ((number, 1),))


def minimum(*numbers: Number) -> Affine:
    """The least of some numbers."""
    return _extreme(Min, [affine(number) for number in numbers])


def maximum(*numbers: Number) -> Affine:
    """The greatest of some numbers."""
    return _extreme(Max, [affine(number) for number in numbers])


def ceil_div(number: Number, divisor: int) -> Affine:
    """The number of tiles of a size that cover an extent."""
    return (affine(number) + (divisor - 1)) // divisor


def compare(left: Number, right: Number) -> int | None:
    """-1, 0 or 1 where the normal forms alone decide the order, else None."""
    difference = affine(left) - right
    if not difference.is_constant:
        return None
    return (difference.constant > 0) - (difference.constant < 0)


def _sum(constant: int, one: Terms, other: Terms) -> Affine:
    return _collect(constant, (*one, *other)) if one and other else Affine(constant, one or other)


def _collect(constant: int, terms: Iterable[tuple[Atom, int]]) -> Affine:
    sums: dict[Atom, int] = {}
    for atom, coefficient in terms:
        sums[atom] = sums.get(atom, 0) + coefficient
    kept = [(atom, c) for atom, c in sums.items() if c]
    if len(kept) > 1:
        kept.sort(key=lambda term: str(term[0]))
    return Affine(constant, tuple(kept))


def _floor(number: Affine, divisor: int) -> Affine:
    """Multiples of the divisor leave the division, and a common factor is cancelled."""
    if divisor < 1:
        raise AffineError(f"division by {divisor}")
    whole = _collect(number.constant // divisor, ((a, c // divisor) for a, c in number.terms))
    rest = _collect(number.constant % divisor, ((a, c % divisor) for a, c in number.terms))
    if rest.is_constant:
        return whole
    factor = gcd(divisor, *(c for _, c in rest.terms))
    rest = Affine(rest.constant // factor, tuple((a, c // factor) for a, c in rest.terms))
    divisor //= factor
    if divisor == 1:
        return whole + rest
    [(first, coefficient), *others] = rest.terms
    if isinstance(first, Floor) and coefficient == 1 and not others:
        inner = first.operand + rest.constant * first.divisor
        return whole + _floor(inner, divisor * first.divisor)
    return whole + Affine(0, ((Floor(rest, divisor), 1),))


def _mod(number: Affine, divisor: int) -> Affine:
    if divisor < 1:
        raise AffineError(f"remainder by {divisor}")
    rest = _collect(number.constant % divisor, ((a, c % divisor) for a, c in number.terms))
    if rest.is_constant:
        return rest
    factor = gcd(divisor, rest.constant, *(c for _, c in rest.terms))
    if factor > 1:
        inner = Affine(rest.constant // factor, tuple((a, c // factor) for a, c in rest.terms))
        return _mod(inner, divisor // factor) * factor
    return Affine(0, ((Mod(rest, divisor), 1),))


def _extreme(kind: type[Min] | type[Max], numbers: list[Affine]) -> Affine:
    """Nested ones are flattened; what differs from another by a constant is dropped."""
    wanted = -1 if kind is Min else 1
    kept: list[Affine] = []
    for number in _flattened(kind, numbers):
        if any(compare(number, other) in (0, -wanted) for other in kept):
            continue
        kept = [other for other in kept if compare(other, number) != -wanted]
        kept.append(number)
    if len(kept) == 1:
        return kept[0]
    return Affine(0, ((kind(tuple(sorted(kept, key=_extreme_order))), 1),))


def _extreme_order(number: Affine) -> tuple[bool, str]:
    return not number.is_constant, str(number)


def _flattened(kind: type[Min] | type[Max], numbers: Iterable[Affine]) -> Iterator[Affine]:
    for number in numbers:
        atom = number.terms[0][0] if number.terms else None
        if isinstance(atom, kind) and number == Affine(0, ((atom, 1),)):
            yield from _flattened(kind, atom.operands)
        else:
            yield number


def operands_of(atom: Atom) -> tuple[Affine, ...]:
    """The expressions inside of an atom."""
    if isinstance(atom, str):
        return ()
    return atom.operands if isinstance(atom, Min | Max) else (atom.operand,)


def _names(number: Affine) -> Iterator[str]:
    for atom, _ in number.terms:
        if isinstance(atom, str):
            yield atom
        for operand in operands_of(atom):
            yield from _names(operand)


def _rebuilt(atom: Atom, replace: Callable[[str], Affine]) -> Affine:
    if isinstance(atom, str):
        return replace(atom)
    inner = [operand._rebuild(replace) for operand in operands_of(atom)]  # pyright: ignore[reportPrivateUsage]
    if isinstance(atom, Floor):
        return inner[0] // atom.divisor
    if isinstance(atom, Mod):
        return inner[0] % atom.divisor
    return _extreme(type(atom), inner)


def _evaluate(atom: Atom, values: Mapping[str, int]) -> int:
    if isinstance(atom, str):
        return values[atom]
    if isinstance(atom, Floor):
        return atom.operand.evaluate(values) // atom.divisor
    if isinstance(atom, Mod):
        return atom.operand.evaluate(values) % atom.divisor
    found = [operand.evaluate(values) for operand in atom.operands]
    return min(found) if isinstance(atom, Min) else max(found)


def _multiple(atom: Atom, coefficient: int) -> str:
    text = str(atom)
    if coefficient == 1:
        return text
    return f"{coefficient}*({text})" if isinstance(atom, Floor | Mod) else f"{coefficient}*{text}"


def _factor(number: Affine) -> str:
    """The operand of a division: in parentheses unless it is one name or call."""
    text = str(number)
    is_plain = len(number.terms) == 1 and not number.constant and number.terms[0][1] == 1
    is_plain = is_plain and not isinstance(number.terms[0][0], Floor | Mod)
    return text if is_plain else f"({text})"


def _signed(text: str, is_negative: bool) -> str:
    return (" - " if is_negative else " + ") + text
