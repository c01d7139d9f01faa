"""What there is to choose from, and how to move in it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from eas.septran.files import Tune
from eas.support.records import frozen

Array = np.ndarray[Any, Any]
Chosen = int | bool | str
Values = Mapping[str, Chosen]
_USUAL_TILES = (32, 64, 128, 16, 8, 4, 2, 1)

Point = tuple[int, ...]  # the position of the chosen option, for each key


@frozen(slots=False)
class Space:
    """The open values of a mapping. A point chooses an option for each.

    If points are `listed`, there are no others.
    """

    tunes: tuple[Tune, ...]
    listed: tuple[Point, ...] | None = None

    @cached_property
    def extents(self) -> tuple[int, ...]:
        return tuple(len(tune.options) for tune in self.tunes)

    @property
    def size(self) -> int:
        """How many points there are."""
        return prod(self.extents) if self.listed is None else len(self.listed)

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
        return (
            itertools.product(*map(range, self.extents))
            if self.listed is None
            else iter(self.listed)
        )

    def draw(self, random: np.random.Generator) -> Point:
        if self.listed is not None:
            return self.listed[int(random.integers(len(self.listed)))]
        return tuple(int(random.integers(extent)) for extent in self.extents)

    def starts(self) -> Iterator[Point]:
        """Points to begin with: tiles of one size, and the first option of all else."""
        points = (
            tuple(
                _nearest(tune.options, size) if "tunables" in tune.path else 0
                for tune in self.tunes
            )
            for size in _USUAL_TILES
        )
        yield from dict.fromkeys(points)

    def approach(self, point: Point, goal: Point, random: np.random.Generator) -> Iterator[Point]:
        """Points on the way to another: each has half as many options of its own."""
        own = [n for n, (a, b) in enumerate(zip(point, goal, strict=True)) if a != b]
        while len(own) > 1:
            own = sorted(map(int, random.choice(own, len(own) // 2, replace=False)))
            yield tuple(point[n] if n in own else each for n, each in enumerate(goal))

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
        if self._numbers[key] and random.random() < 0.7:
            step = 1 if random.random() < 0.5 else -1
            return position + step if 0 <= position + step < extent else position - step
        other = int(random.integers(extent - 1))
        return other + (other >= position)

    @cached_property
    def _numbers(self) -> tuple[bool, ...]:
        """For each key whether its options are numbers, of which neighbors are alike."""
        return tuple(all(type(each) is int for each in tune.options) for tune in self.tunes)

    def neighbors(self, point: Point) -> Iterator[Point]:
        """Points that differ in one option: numbers by one step, others in any way."""
        for key, (extent, is_number) in enumerate(zip(self.extents, self._numbers, strict=True)):
            at = point[key]
            options = (at - 1, at + 1) if is_number else range(extent)
            for other in options:
                if 0 <= other < extent and other != at:
                    yield (*point[:key], other, *point[key + 1 :])

    def places(self, points: Sequence[Point]) -> Array:
        """Points as rows of numbers: apart by 1 if all that differs is the range of a number.

        Numbers from 1 on count by their logarithms, options of other keys are all as far apart.
        """
        rows = np.array(points, int).reshape(len(points), len(self.tunes))
        columns = [
            self._places[key][rows[:, key]] for key, extent in enumerate(self.extents) if extent > 1
        ]
        return np.concatenate([np.empty((len(points), 0)), *columns], axis=1)

    @cached_property
    def _places(self) -> tuple[Array, ...]:
        return tuple(map(_places_of, self.tunes, self._numbers))

    def cross(self, one: Point, other: Point, random: np.random.Generator) -> Point:
        """Each option from one of two points."""
        return tuple(a if random.random() < 0.5 else b for a, b in zip(one, other, strict=True))


def _places_of(tune: Tune, is_number: bool) -> Array:
    """A row for each option."""
    if not is_number:
        return np.eye(len(tune.options)) * 0.5
    values = np.array(tune.options, float)
    scaled = np.log2(values) if values.min() >= 1 else values
    return ((scaled - scaled.min()) / max(float(np.ptp(scaled)), 1e-9))[:, None]


def _nearest(options: Sequence[Chosen], size: int) -> int:
    """The position of the number that is nearest to a size."""
    return min(range(len(options)), key=lambda n: abs(int(options[n]) - size))
