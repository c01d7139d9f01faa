"""Compares floats by how many numbers of their dtype lie between them."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def difference(found: Array, right: Array, ulps: int) -> str | None:
    """How the worst element differs; floats may be so many units in the last place apart."""
    if found.dtype != right.dtype or found.shape != right.shape:
        return f"{found.dtype}{found.shape} instead of {right.dtype}{right.shape}"
    if not found.size:
        return None
    distance = steps_between(found.ravel(), right.ravel())
    worst = int(distance.argmax())
    if distance[worst] <= ulps:
        return None
    wrong = int((distance > ulps).sum())
    words = f"{found.ravel()[worst]!r} instead of {right.ravel()[worst]!r}"
    return f"{words} at {worst}, {distance[worst]} ulps off; {wrong} of {found.size} are wrong"


def steps_between(a: Array, b: Array) -> Array:
    """How many steps from float to float it takes from `a` to `b`; of others, 1 if they differ."""
    if a.dtype.kind in "biu":
        return (a != b).astype(np.int64)
    return ulps_between(a, b)


def ulps_between(a: Array, b: Array) -> Array:
    """How many steps from float to float it takes from `a` to `b`; none between two NaNs."""
    steps = np.abs(_ordered(a) - _ordered(b))
    return np.where(np.isnan(a) & np.isnan(b), 0, steps)


def without_signs_of_zeros(a: Array) -> Array:
    return a + a.dtype.type(0)


def _ordered(a: Array) -> Array:
    """Integers in the order of the floats; minus zero comes just before zero."""
    bits = a.view(f"i{a.dtype.itemsize}").astype(np.int64)
    low = np.int64(-(1 << (a.dtype.itemsize * 8 - 1)))
    return np.where(bits < 0, ~(bits ^ low), bits)
