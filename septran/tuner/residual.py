"""What measured times say about the error of estimates: ridge regression of its logarithm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eas.support.records import frozen

Array = np.ndarray[Any, Any]


@frozen(eq=False)
class Residual:
    """A correction: the logarithm of measured seconds per estimated second."""

    mean: Array
    scale: Array
    weights: Array
    offset: float

    def predict(self, features: Array) -> Array:
        return (features - self.mean) / self.scale @ self.weights + self.offset


def fit(features: Array, errors: Array, strength: float = 3.0) -> Residual:
    """The correction that fits some errors, with small weights.

    With few measurements most of it is the mean error, and the estimate keeps its say.
    """
    table: Array = np.asarray(features, float)
    wanted: Array = np.asarray(errors, float)
    mean, scale = table.mean(0), table.std(0)
    scale = np.where(scale > 1e-9, scale, 1.0)
    normed = (table - mean) / scale
    offset = float(wanted.mean())
    gram: Array = normed @ normed.T + strength * np.eye(len(wanted))
    solved: Array = np.linalg.solve(gram, wanted - offset)
    weights: Array = normed.T @ solved
    return Residual(mean, scale, weights, offset)


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's: 1 if both order things alike. Equal numbers share their mean rank."""
    a, b = _ranks(np.asarray(one, float)), _ranks(np.asarray(other, float))
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size else 0.0


def _ranks(values: Array) -> Array:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2.0)[inverse]
