"""What measured times of some problems say about the error of estimates: ridge regression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eas.support.records import frozen

Array = np.ndarray[Any, Any]


STRENGTH = 0.1


@frozen(eq=False)
class Residual:
    """A correction: the logarithm of measured seconds per estimated second, up to a constant."""

    weights: Array

    def predict(self, features: Array) -> Array:
        """It depends on the first features only, as many as there are weights."""
        return features[:, : len(self.weights)] @ self.weights


def fit(parts: Sequence[tuple[Array, Array]], strength: float = STRENGTH) -> Residual:
    """The correction that fits the errors of several problems, with small weights.

    A part is a table of features, and the errors of estimates. The problems count alike, however
    many candidates they have, and each may have a mean error of its own: machines differ in that.
    """
    variances = [np.asarray(table, float).var(0) for table, _ in parts]
    scale = np.sqrt(np.mean(variances, axis=0))
    scale = np.where(scale > 1e-9, scale, 1.0)
    centered = [(np.asarray(table, float) - np.mean(table, 0)) / scale for table, _ in parts]
    normed = np.concatenate([each / np.sqrt(len(each)) for each in centered])
    wanted = np.concatenate([(e - np.mean(e)) / np.sqrt(len(e)) for _, e in parts])
    gram: Array = normed.T @ normed + strength * np.eye(normed.shape[1])
    return Residual(np.linalg.solve(gram, normed.T @ wanted) / scale)


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
