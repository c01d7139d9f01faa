"""Predicted times of candidates: estimates, corrected by what was measured so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, log
from typing import Any

import numpy as np

from eas.septran.tuner.cost import estimate, features
from eas.septran.tuner.problem import Candidates
from eas.septran.tuner.residual import Residual, fit
from eas.septran.tuner.space import Point
from eas.support.records import frozen

Array = np.ndarray[Any, Any]

FEWEST = 4  # measurements that say something about the errors of estimates


@frozen
class Tried:
    """A point that was tried, and its seconds: infinite if it must not win."""

    point: Point
    seconds: float


@frozen
class Facts:
    """What is known of a legal candidate before it is tried: estimated seconds, and features."""

    seconds: float
    features: Sequence[float]


FactsOf = Callable[[Point], Facts | None]


def facts_of(candidates: Candidates) -> FactsOf:
    """The facts of the candidates of a problem; None for one that static checks refuse."""

    def compute(point: Point) -> Facts | None:
        lowered = candidates.lowered(candidates.space.values(point))
        if isinstance(lowered, str):
            return None
        module, machine = lowered.module, candidates.base.machine
        return Facts(estimate(module, machine, {}).seconds, features(module, machine, {}))

    return compute


class Model:
    """Predicts candidates; the facts of a point are computed once.

    `known` is a correction that was fitted to other problems.
    """

    def __init__(self, facts: FactsOf, known: Residual | None = None) -> None:
        self._compute = facts
        self._known = known
        self._facts: dict[Point, Facts | None] = {}

    def facts(self, point: Point) -> Facts | None:
        if point not in self._facts:
            self._facts[point] = self._compute(point)
        return self._facts[point]

    def is_legal(self, point: Point) -> bool:
        """Whether static checks let a point through."""
        return self.facts(point) is not None

    def predict(self, points: Sequence[Point], history: Sequence[Tried]) -> Array:
        """The logarithms of the seconds that legal points should take."""
        measured = [each for each in history if isfinite(each.seconds) and self.facts(each.point)]
        guesses, table = self._guesses(points)
        if len(measured) < FEWEST:
            return guesses
        before, rows = self._guesses([each.point for each in measured])
        errors = np.log([each.seconds for each in measured]) - before
        return guesses + fit(rows, errors).predict(table)

    def _guesses(self, points: Sequence[Point]) -> tuple[Array, Array]:
        """Logarithms of estimated seconds, and the features of points."""
        known = [facts for point in points if (facts := self.facts(point)) is not None]
        table: Array = np.array([facts.features for facts in known], float)
        guesses: Array = np.array([log(facts.seconds) for facts in known])
        if self._known is not None:
            guesses = guesses + self._known.predict(table)
        return guesses, table
