"""Searches against stored results: methods are compared without measuring anything."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np

from eas.septran.files import Machine, Tune
from eas.septran.tuner.cost import TERMS
from eas.septran.tuner.prediction import Facts, Model, Tried, facts_from
from eas.septran.tuner.proposers import Proposer
from eas.septran.tuner.residual import Residual, fit, rank_correlation
from eas.septran.tuner.space import Point, Space
from eas.septran.tuner.store import Stored
from eas.septran.tuner.sweep_files import Recorded
from eas.support.location import NOWHERE
from eas.support.records import frozen

Array = np.ndarray[Any, Any]


@frozen
class Sweep:
    """Stored trials as a space of their own: its points are those that were measured."""

    space: Space
    seconds: dict[Point, float]
    facts: dict[Point, Facts]

    @property
    def best(self) -> float:
        return min(self.seconds.values())

    @property
    def table(self) -> Array:
        """The features of all candidates."""
        return np.array([self.facts[point].features for point in self.seconds], float)

    @property
    def errors(self) -> Array:
        """The logarithms of measured seconds per estimated second."""
        estimates = [self.facts[point].seconds for point in self.seconds]
        return np.log(list(self.seconds.values())) - np.log(estimates)

    def correlation(self, known: Residual | None = None, history: Sequence[Tried] = ()) -> float:
        """Spearman's, of measured seconds with those predicted after some trials."""
        points = list(self.seconds)
        predicted = self.model(known).predict(points, history)
        return rank_correlation(predicted.tolist(), list(self.seconds.values()))

    def model(self, known: Residual | None = None) -> Model:
        return Model(self.space, self.facts.get, known)


def sweep_of(keys: Sequence[str], trials: Sequence[Stored]) -> Sweep:
    """The sweep that trials make up. The options of a key are the values that it had."""
    right = [each for each in trials if each.outcome.is_right]
    tunes = tuple(
        Tune(key, (key,), tuple(_options([each.values[key] for each in right])), NOWHERE)
        for key in keys
    )
    everything = Space(tunes)
    points = {everything.point(each.values): each for each in right}
    return Sweep(
        Space(tunes, tuple(sorted(points))),
        {point: each.seconds for point, each in points.items()},
        {point: each.facts for point, each in points.items()},
    )


def recorded_sweep(recorded: Recorded) -> Sweep:
    """A sweep from its file: the seconds of a candidate are the median of its samples."""
    machine = Machine.model_validate(recorded.machine)
    trials = [
        Stored(number, row.values, row.outcome, row.outcome.seconds, facts_from(row.work, machine))
        for number, row in enumerate(recorded.rows)
        if row.outcome is not None and row.outcome.samples
    ]
    return sweep_of(recorded.keys, trials)


def fit_sweeps(sweeps: Sequence[Sweep]) -> Residual:
    """The correction that other problems than these may begin with.

    It depends on what estimates are made of. Features of shapes and memories are left out: what
    they mean for one machine is not what they mean for another.
    """
    return fit([(sweep.table[:, : len(TERMS)], sweep.errors) for sweep in sweeps])


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
