"""Predicted times of candidates: estimates, corrected by what was measured so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, log
from typing import Any

import numpy as np

from eas.septran.files import Machine
from eas.septran.tuner.candidate_features import features
from eas.septran.tuner.cost import estimate
from eas.septran.tuner.problem import Candidates
from eas.septran.tuner.residual import Residual
from eas.septran.tuner.space import Point, Space
from eas.septran.tuner.surrogate import (
    Described,
    Posterior,
    expected_gains,
    expected_logs,
    posteriors,
)
from eas.septran.tuner.work import Work, work_of
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
        return facts_from(work_of(lowered.module, {}), candidates.base.machine)

    return compute


def facts_from(works: Sequence[Work], machine: Machine) -> Facts:
    """The facts of a candidate by what it does."""
    found = estimate(works, machine)
    return Facts(found.seconds, tuple(features(works, machine, found).values()))


class Model:
    """Predicts candidates; the facts of a point are computed once.

    `known` is a correction that was fitted to other problems.
    """

    def __init__(self, space: Space, facts: FactsOf, known: Residual | None = None) -> None:
        self._space = space
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
        found = self._posteriors(points, history)
        return self._described(points).predicted if found is None else expected_logs(found)

    def gains(self, points: Sequence[Point], history: Sequence[Tried]) -> Array:
        """How much faster than the best one so far legal points are expected to be.

        As a logarithm; points that may as well be slower gain by how uncertain that is.
        """
        found = self._posteriors(points, history)
        if found is None:
            return -self._described(points).predicted
        return expected_gains(min(log(each.seconds) for each in self._measured(history)), found)

    def _posteriors(
        self, points: Sequence[Point], history: Sequence[Tried]
    ) -> list[Posterior] | None:
        """None if too little was measured to learn from."""
        measured = self._measured(history)
        if len(measured) < FEWEST:
            return None
        logs = np.log([each.seconds for each in measured])
        tried = self._described([each.point for each in measured])
        return posteriors(tried, logs, self._described(points))

    def _measured(self, history: Sequence[Tried]) -> list[Tried]:
        return [each for each in history if isfinite(each.seconds) and self.is_legal(each.point)]

    def _described(self, points: Sequence[Point]) -> Described:
        known = [facts for point in points if (facts := self.facts(point)) is not None]
        table: Array = np.array([facts.features for facts in known], float)
        table = table.reshape(len(known), -1)
        predicted: Array = np.array([log(facts.seconds) for facts in known])
        if self._known is not None:
            predicted = predicted + self._known.predict(table)
        return Described(self._space.places(points), table, predicted)
