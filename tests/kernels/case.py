"""What a kernel of the corpus brings along: its arguments, and the results to compare with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Arguments = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A kernel of the corpus, the module's `CASE`.

    `arguments` makes them anew for each use, because the kernel writes into some. `reference`
    takes them by name and gives, by name, each array that the kernel changes; the others must stay
    as they are. Without a `grid` it follows from the argument `N`. Floats may differ by
    `tolerance`, relative to the largest; everything else is compared exactly.
    """

    kernel: Any
    arguments: Callable[[], Arguments]
    reference: Callable[..., dict[str, Array]]
    grid: tuple[int, ...] | None = None
    tolerance: float = 0.0


def floats(*shape: int, seed: int = 0) -> Array:
    """Normally distributed f32, the same in every run."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def integers(*shape: int, low: int, high: int, seed: int = 0) -> Array:
    """Evenly distributed i32 from `low` to `high - 1`, the same in every run."""
    return np.random.default_rng(seed).integers(low, high, shape).astype(np.int32)
