"""What there is to choose from, and how to move in it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from functools import cached_property
from math import prod

import numpy as np

from eas.septran.files import Tune
from eas.support.records import frozen

Chosen = int | bool | str
Values = Mapping[str, Chosen]
Point = tuple[int, ...]  # the position of the chosen option, for each key


@frozen(slots=False)
class Space:
    """The open values of a mapping. A point chooses an option for each."""

    tunes: tuple[Tune, ...]

    @cached_property
    def extents(self) -> tuple[int, ...]:
        return tuple(len(tune.options) for tune in self.tunes)

    @property
    def size(self) -> int:
        """How many points there are."""
        return prod(self.extents)

    def values(self, point: Point) -> dict[str, Chosen]:
        pairs = zip(self.tunes, point, strict=True)
        return {tune.key: tune.options[position] for tune, position in pairs}

    def point(self, values: Values) -> Point:
        """The point of some values; `1` is not `true`."""
        return tuple(
            next(
                n
                for n, option in enumerate(tune.options)
                if type(option) is type(values[tune.key]) and option == values[tune.key]
            )
            for tune in self.tunes
        )

    def points(self) -> Iterator[Point]:
        """All points; the last key changes fastest."""
        return itertools.product(*map(range, self.extents))

    def draw(self, random: np.random.Generator) -> Point:
        return tuple(int(random.integers(extent)) for extent in self.extents)

    def mutate(self, point: Point, random: np.random.Generator) -> Point:
        """A point near another: one or two options change, numbers mostly to a neighbor."""
        open_keys = [n for n, extent in enumerate(self.extents) if extent > 1]
        if not open_keys:
            return point
        count = min(len(open_keys), 1 + int(random.random() < 0.4))
        changed = list(point)
        for key in map(int, random.choice(open_keys, count, replace=False)):
            changed[key] = self._moved(key, changed[key], random)
        return tuple(changed)

    def _moved(self, key: int, position: int, random: np.random.Generator) -> int:
        extent = self.extents[key]
        is_number = all(type(option) is int for option in self.tunes[key].options)
        if is_number and random.random() < 0.7:
            step = 1 if random.random() < 0.5 else -1
            return position + step if 0 <= position + step < extent else position - step
        other = int(random.integers(extent - 1))
        return other + (other >= position)

    def cross(self, one: Point, other: Point, random: np.random.Generator) -> Point:
        """Each option from one of two points."""
        return tuple(a if random.random() < 0.5 else b for a, b in zip(one, other, strict=True))
