"""What measurements say about candidates that were not tried, and how sure that is.

Gaussian processes over the logarithms of seconds. Two candidates are alike if their values are near
to each other, and if their features are. How much each of these counts, how far "near" is, and
whether the error of the prediction is modeled or the seconds themselves, differs between the
processes: each has a weight by how likely it makes what was measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import exp, log, pi, sqrt
from typing import Any

import numpy as np

from eas.support.records import frozen

Array = np.ndarray[Any, Any]

_LENGTHS = (0.5, 1.0, 2.0, 4.0)  # over which values are alike: more in spaces of many keys
_FEATURES = (0.0, 0.5, 2.0)  # the weight of features, where that of values is 1
_NOISES = (0.01, 0.05)  # the part of the variance that is seen between equal candidates
_TRUSTS = (0.0, 1.0)  # in the prediction
_LEAST = exp(-4.0)  # the weight, relative to the largest, below which a process is left out


@frozen(eq=False)
class Described:
    """Candidates as rows: values as places, features, and predicted logarithms of seconds."""

    places: Array
    features: Array
    predicted: Array


@frozen(eq=False)
class Posterior:
    """What a process expects of candidates, and its weight."""

    weight: float
    mean: Array
    deviation: Array


def posteriors(tried: Described, logs: Array, others: Described) -> list[Posterior]:
    """What is expected of others, given the logarithms of seconds of those that were tried."""
    fitted = list(_fitted(tried, logs, others))
    best = max(each.likelihood for each in fitted)
    kept = [(exp(each.likelihood - best), each) for each in fitted]
    kept = [(weight, each) for weight, each in kept if weight >= _LEAST]
    total = sum(weight for weight, _ in kept)
    return [each.posterior(weight / total) for weight, each in kept]


def expected_gains(best: float, found: list[Posterior]) -> Array:
    """How far below the best each is expected to be, where those above it count as nothing."""
    return sum((each.weight * _gain(best, each) for each in found), np.zeros(1))


def expected_logs(found: list[Posterior]) -> Array:
    return sum((each.weight * each.mean for each in found), np.zeros(1))


def _gain(best: float, posterior: Posterior) -> Array:
    distance = (best - posterior.mean) / posterior.deviation
    below = _probability_below(distance)
    density = np.exp(-distance * distance / 2.0) / sqrt(2.0 * pi)
    return posterior.deviation * (distance * below + density)


# A polynomial for the tail of the normal distribution (Numerical Recipes, `erfc`): its error is
# below 2e-7 of the result, however far out that is.
_TAIL = (
    0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418,
    0.37409196, 1.00002368, -1.26551223,
)  # fmt: skip


def _probability_below(distance: Array) -> Array:
    """That a normal number is below some."""
    away = np.abs(distance) / sqrt(2.0)
    part = 1.0 / (1.0 + 0.5 * away)
    tail = 0.5 * part * np.exp(-away * away + np.polyval(_TAIL, part))
    return np.where(distance < 0, tail, 1.0 - tail)


@frozen(eq=False)
class _Process:
    """A Gaussian process that was fitted; `between` has a row for each of the others."""

    likelihood: float
    middle: Array
    between: Array
    covariance: Array
    solved: Array
    variance: float

    def posterior(self, weight: float) -> Posterior:
        mean = self.middle + self.between @ self.solved
        explained = (self.between * np.linalg.solve(self.covariance, self.between.T).T).sum(1)
        return Posterior(weight, mean, np.sqrt(np.maximum(1.0 - explained, 1e-9) * self.variance))


def _fitted(tried: Described, logs: Array, others: Described) -> Iterator[_Process]:
    count = len(logs)
    places: Array = np.concatenate([tried.places, others.places])
    distances: Array = np.sqrt(_squares(places, tried.places))
    features = _normed(np.concatenate([tried.features, others.features]))
    by_feature: Array = np.exp(-0.5 * _squares(features, features[:count]))
    for length, weight in product(_LENGTHS, _FEATURES):
        alike = (np.exp(-distances / length) + weight * by_feature) / (1.0 + weight)
        for noise, trust in product(_NOISES, _TRUSTS):
            covariance = alike[:count] + noise * np.eye(count)
            errors = logs - trust * tried.predicted
            offset = float(errors.mean())
            solved: Array = np.linalg.solve(covariance, errors - offset)
            variance = (float((errors - offset) @ solved) + 0.01) / (count + 1)
            spread = float(np.linalg.slogdet(covariance)[1])
            likelihood = -0.5 * (count * log(variance) + spread)
            middle = offset + trust * others.predicted
            yield _Process(likelihood, middle, alike[count:], covariance, solved, variance)


def _normed(features: Array) -> Array:
    """Features with a mean of 0, such that rows are apart by about 1."""
    spread = features.std(0)
    varying = spread > 1e-9
    normed: Array = (features - features.mean(0))[:, varying] / spread[varying]
    return normed / sqrt(max(1, normed.shape[1]))


def _squares(one: Array, other: Array) -> Array:
    """Squares of the distances between rows."""
    lengths = (one * one).sum(1)[:, None] + (other * other).sum(1)[None, :]
    return np.maximum(lengths - 2.0 * one @ other.T, 0.0)
