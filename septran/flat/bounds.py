"""What is sure about affine expressions, whatever the loops' values and the sizes are.

`Scope.proves(e)` is true only if `e >= 0` holds for every value of the loop variables in their
ranges, under the conditions around, for all sizes of at least 1. It replaces one atom after the
other by a bound: a minimum by its operands, a division by what it lies between, a variable by the
facts that bound it. False means that it found no proof; `Scope.counterexample` looks for values
that refute it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from eas.septran.flat.affine import Affine, Atom, Floor, Max, Min, Mod, affine
from eas.septran.flat.nodes import Comparison
from eas.support.records import frozen, replace

_DEPTH = 14  # replacements in a row; proofs of tiles take about six
_MOST_VALUES = 4000
# Sizes that are tried for a counterexample: one, around common tiles, and odd ones.
_SIZES = (1, 2, 3, 5, 7, 13, 16, 17, 31, 33, 64, 67, 100, 129)


@frozen
class Scope:
    """The loops around a statement, the outermost first, and what else is known there.

    Each fact is at least 0.
    """

    loops: tuple[tuple[str, Affine], ...] = ()
    facts: tuple[Affine, ...] = ()

    def inside_loop(self, name: str, extent: Affine) -> Scope:
        facts = (*self.facts, affine(name), extent - 1 - name)
        return Scope((*self.loops, (name, extent)), facts)

    def inside_if(self, left: Affine, comparison: Comparison, right: Affine) -> Scope:
        match comparison:
            case "<":
                added = (right - left - 1,)
            case "<=":
                added = (right - left,)
            case ">":
                added = (left - right - 1,)
            case ">=":
                added = (left - right,)
            case "==":
                added = (left - right, right - left)
            case "!=":
                added = ()
        return replace(self, facts=(*self.facts, *added))

    def proves(self, number: Affine) -> bool:
        """Whether a number is sure to be at least 0."""
        return _prove(number, self, _DEPTH)

    def proves_equal(self, left: Affine, right: Affine) -> bool:
        if left == right:
            return True
        return self.proves(left - right) and self.proves(right - left)

    def counterexample(
        self, names: frozenset[str], holds: Callable[[Mapping[str, int]], bool]
    ) -> dict[str, int] | None:
        """Values of names and loop variables for which something is not true, if some are found."""
        for count, values in enumerate(self._samples(names)):
            if count > _MOST_VALUES:
                return None
            if not holds(values):
                return values
        return None

    def _samples(self, used: frozenset[str]) -> Iterator[dict[str, int]]:
        """Values that can occur together: the ends and a middle of each loop, for some sizes."""
        names = set(used).union(*(extent.names for _, extent in self.loops))
        names = names.union(*(fact.names for fact in self.facts)) - {n for n, _ in self.loops}
        for shift in range(len(_SIZES)):
            chosen = {
                name: _SIZES[(shift + 5 * position) % len(_SIZES)]
                for position, name in enumerate(sorted(names))
            }
            for values in self._corners(chosen, self.loops):
                if all(fact.evaluate(values) >= 0 for fact in self.facts):
                    yield values

    def _corners(
        self, values: dict[str, int], loops: tuple[tuple[str, Affine], ...]
    ) -> Iterator[dict[str, int]]:
        if not loops:
            yield values
            return
        (name, extent), *rest = loops
        last = extent.evaluate(values) - 1
        for value in sorted({0, 1, last // 2, last - 1, last}):
            if 0 <= value <= last:
                yield from self._corners({**values, name: value}, tuple(rest))


def _prove(number: Affine, scope: Scope, depth: int) -> bool:
    if number.is_constant:
        return number.constant >= 0
    if depth == 0:
        return False
    atom = _hardest(number, scope)
    coefficient, rest = number.coefficient(atom), number.without(atom)

    def proves(other: Affine) -> bool:
        return _prove(other, scope, depth - 1)

    match atom:
        case Min() | Max():
            options = (rest + operand * coefficient for operand in atom.operands)
            # The least of several is none of the others: what is subtracted may be any operand.
            is_any = (coefficient < 0) == isinstance(atom, Min)
            return any(map(proves, options)) if is_any else all(map(proves, options))
        case Mod():
            if coefficient > 0:
                return proves(rest)
            if proves(rest + coefficient * (atom.divisor - 1)):
                return True
            return proves(atom.operand) and proves(rest + atom.operand * coefficient)
        case Floor():
            scaled = rest * atom.divisor
            if coefficient < 0:
                return proves(scaled + atom.operand * coefficient)
            low = atom.operand - (atom.divisor - 1)
            if proves(scaled + low * coefficient):
                return True
            return proves(atom.operand) and proves(rest)
        case str():
            return any(map(proves, _eliminations(atom, number, scope)))


def _eliminations(name: str, number: Affine, scope: Scope) -> Iterator[Affine]:
    """Numbers without a name: if one of them is at least 0, so is the given one."""
    coefficient = number.coefficient(name)
    for fact in reversed(scope.facts):
        other = fact.coefficient(name)
        if other and (other > 0) == (coefficient > 0):
            yield number * abs(other) - fact * abs(coefficient)
    if coefficient > 0 and all(name != loop for loop, _ in scope.loops):
        yield number - affine(name) * coefficient + coefficient  # a size is at least 1


def _hardest(number: Affine, scope: Scope) -> Atom:
    """The atom to replace next: those with operands first, then the innermost variable."""
    order = {name: position for position, (name, _) in enumerate(scope.loops)}

    def rank(atom: Atom) -> tuple[int, int]:
        if isinstance(atom, str):
            return 3, -order.get(atom, -1)
        return 0 if isinstance(atom, Min | Max) else 1 if isinstance(atom, Mod) else 2, 0

    return min((atom for atom, _ in number.terms), key=rank)
