"""The programs of a grid that a chunk runs."""

from __future__ import annotations

from math import prod

import numpy as np

from eas.ir.ops.record import Array
from eas.ir.types import I32
from eas.support.records import frozen


@frozen
class Programs:
    """`size` programs of a grid from number `first` on; the first axis of the grid runs fastest."""

    grid: tuple[int, ...]
    first: int
    size: int

    def index(self, axis: int) -> Array:
        """The programs' index along an axis of the grid: one each, or one if all are equal."""
        below = prod(self.grid[:axis])
        start, end = self.first // below, (self.first + self.size - 1) // below
        if start == end:
            return np.full(1, start % self.count(axis), I32.numpy)
        numbers = np.arange(self.first, self.first + self.size) // below % self.count(axis)
        return numbers.astype(I32.numpy)

    def count(self, axis: int) -> int:
        """How many programs the grid has along an axis."""
        return self.grid[axis] if axis < len(self.grid) else 1

    def place(self, number: int) -> tuple[int, ...]:
        """The index in the grid of the program with that number."""
        place: list[int] = []
        for extent in self.grid:
            number, index = divmod(number, extent)
            place.append(index)
        return tuple(place)
