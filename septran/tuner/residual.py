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
    Where the problems by themselves want weights of different signs there is none: machines differ
    in that, too.
    """
    tables = [np.asarray(table, float) for table, _ in parts]
    scale = np.sqrt(np.mean([table.var(0) for table in tables], axis=0))
    scale = np.where(scale > 1e-9, scale, 1.0)
    normed = [(each - each.mean(0)) / scale / np.sqrt(len(each)) for each in tables]
    wanted = [(errors - np.mean(errors)) / np.sqrt(len(errors)) for _, errors in parts]
    signs = np.sign([_ridge(*part, strength) for part in zip(normed, wanted, strict=True)])
    weights = _ridge(np.concatenate(normed), np.concatenate(wanted), strength)
    return Residual(np.where((signs == signs[0]).all(0), weights, 0.0) / scale)


def _ridge(table: Array, wanted: Array, strength: float) -> Array:
    gram: Array = table.T @ table + strength * np.eye(table.shape[1])
    return np.linalg.solve(gram, table.T @ wanted)


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
