"""Searches against stored results: methods are compared without measuring anything."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np

from eas.septran.files import Tune
from eas.septran.tuner.prediction import Facts, Model, Tried
from eas.septran.tuner.proposers import Proposer
from eas.septran.tuner.residual import Residual
from eas.septran.tuner.space import Point, Space
from eas.septran.tuner.store import Stored
from eas.support.location import NOWHERE
from eas.support.records import frozen


@frozen
class Sweep:
    """Stored trials as a space of their own: its points are those that were measured."""

    space: Space
    seconds: dict[Point, float]
    facts: dict[Point, Facts]

    @property
    def best(self) -> float:
        return min(self.seconds.values())

    def model(self, known: Residual | None = None) -> Model:
        return Model(self.facts.get, known)


def sweep_of(keys: Sequence[str], trials: Sequence[Stored]) -> Sweep:
    """The sweep that trials make up. The options of a key are the values that it had."""
    right = [each for each in trials if each.outcome.is_right]
    tunes = tuple(
        Tune(key, (key,), tuple(_options([each.values[key] for each in right])), NOWHERE)
        for key in keys
    )
    space = Space(tunes)
    points = {space.point(each.values): each for each in right}
    return Sweep(
        space,
        {point: each.seconds for point, each in points.items()},
        {point: each.facts for point, each in points.items()},
    )


def _options(values: Sequence[int | bool | str]) -> list[int | bool | str]:
    """Different values; numbers in their order, since neighbors are alike."""
    found = {(type(each), each): each for each in values}
    return sorted(found.values(), key=lambda each: (str(type(each)), each))


def replayed(
    sweep: Sweep, proposer: Proposer, seed: int, trials: int, known: Residual | None = None
) -> list[Tried]:
    """What a search would have tried, in order."""
    model = sweep.model(known)
    history: list[Tried] = []
    while len(history) < min(trials, len(sweep.seconds)):
        random = np.random.default_rng([seed, len(history)])
        point = proposer(sweep.space, history, model, random)
        if point is None:
            break
        history.append(Tried(point, sweep.seconds[point]))
    return history


def best_so_far(history: Sequence[Tried]) -> list[float]:
    """The seconds of the best candidate after each trial."""
    return np.minimum.accumulate([each.seconds for each in history]).tolist()


def median_regrets(
    sweep: Sweep,
    proposer: Proposer,
    seeds: Sequence[int],
    trials: int,
    known: Residual | None = None,
) -> list[float]:
    """After each trial: how much slower than the best of all, in the median over seeds."""
    curves = [best_so_far(replayed(sweep, proposer, seed, trials, known)) for seed in seeds]
    length = min(map(len, curves))
    return [median(curve[n] / sweep.best - 1.0 for curve in curves) for n in range(length)]
