"""Between which bounds an affine number lies, given those of its variables.

The size of an array is a name of digits, `"37"`, while logic is lowered: so `min(64, 37)` is still
seen to be a tile of 64, for which memory of 64 is needed, although there are only 37 rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eas.septran.flat.affine import Affine, Atom, Floor, Max, Min, Mod, affine
from eas.support.records import field, frozen

Bounds = tuple[int, int]


def size(extent: int) -> Affine:
    """The size of an axis of an array, by a name."""
    return affine(str(extent))


def known(number: Affine) -> int | None:
    """The value of a number that depends on sizes only."""
    names = number.names
    if not all(map(str.isdigit, names)):
        return None
    return number.evaluate({name: int(name) for name in names})


def is_same(first: Affine, second: Affine) -> bool:
    """Whether two numbers are equal, perhaps by the sizes: a tile of 7 is an axis of 7."""
    return first == second or (known(first) is not None and known(first) == known(second))


def are_same(first: Sequence[Affine], second: Sequence[Affine]) -> bool:
    """Whether two shapes are equal, perhaps by the sizes."""
    return len(first) == len(second) and all(map(is_same, first, second))


def is_axis(extent: Affine) -> bool:
    """Whether an extent is the size of an axis itself, not that of a tile."""
    match extent.terms:
        case ((str(name), 1),):
            return extent.constant == 0 and name.isdigit()
        case _:
            return False


def room(extent: Affine, ranges: Ranges) -> int:
    """The extent of a full tile: what memory for a tile of an extent must hold."""
    if len(extent.terms) == 1 and extent.terms[0][1] == 1:
        atom = extent.terms[0][0]
        if isinstance(atom, Min):
            tiles = [each.value for each in atom.operands if each.is_constant]
            if tiles:
                return tiles[0] + extent.constant
    return ranges.upper(extent)


def bounds_of(number: Affine, variable: Callable[[str], Bounds]) -> Bounds:
    """The least and the greatest value by those of variables, or numbers beyond these."""
    low = high = number.constant
    for atom, coefficient in number.terms:
        least, greatest = _bounds_of_atom(atom, variable)
        ends = coefficient * least, coefficient * greatest
        low, high = low + min(ends), high + max(ends)
    return low, high


def _bounds_of_atom(atom: Atom, variable: Callable[[str], Bounds]) -> Bounds:
    match atom:
        case str():
            return variable(atom)
        case Floor(operand, divisor):
            low, high = bounds_of(operand, variable)
            return low // divisor, high // divisor
        case Mod(operand, divisor):
            low, high = bounds_of(operand, variable)
            return (low, high) if 0 <= low <= high < divisor else (0, divisor - 1)
        case Min(operands):
            parts = [bounds_of(each, variable) for each in operands]
            return min(low for low, _ in parts), min(high for _, high in parts)
        case Max(operands):
            parts = [bounds_of(each, variable) for each in operands]
            return max(low for low, _ in parts), max(high for _, high in parts)


@frozen
class Ranges:
    """What is known of variables: the extents of the loops that count them."""

    extents: dict[str, Affine] = field(default_factory=dict[str, Affine])

    def inside(self, variable: str, extent: Affine) -> Ranges:
        """What is known in a loop, of its variable too."""
        return Ranges({**self.extents, variable: extent})

    @property
    def are_empty(self) -> bool:
        """Whether a loop never runs, so that nothing inside of it does."""
        return any(self.upper(extent) <= 0 for extent in self.extents.values())

    def bounds(self, number: Affine) -> Bounds:
        """The least and the greatest value, or numbers beyond these."""
        return bounds_of(number, self._variable)

    def _variable(self, name: str) -> Bounds:
        if name.isdigit():
            return int(name), int(name)
        return 0, max(0, self.bounds(self.extents[name])[1] - 1)

    def upper(self, number: Affine) -> int:
        """The greatest value that a number can have: what memory for it must hold."""
        return self.bounds(number)[1]

    def is_least(self, number: Affine, other: Affine) -> bool:
        """Whether a number is never greater than another one.

        Where the bounds of variables alone do not show it, a variable that is subtracted is taken
        to be at the end of its loop: `y + 2 < n + 2` for `y < n`, whatever `n` is.
        """
        difference = other - number
        if self.bounds(difference)[0] >= 0:
            return True
        for variable, extent in reversed(self.extents.items()):
            factor = difference.coefficient(variable)
            if factor < 0:
                difference = difference.without(variable) + (extent - 1) * factor
        return self.bounds(difference)[0] >= 0

    def stays_below(self, index: Affine, extent: Affine) -> bool:
        """Whether an index is in a range: by its bounds, or because it counts just that range."""
        low, high = self.bounds(index)
        if low >= 0 and high < self.bounds(extent)[0]:
            return True
        if index.constant == 0 and len(index.terms) == 1 and index.terms[0][1] == 1:
            name = index.terms[0][0]
            return isinstance(name, str) and self.extents.get(name) == extent
        return False
