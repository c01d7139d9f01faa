"""Operands for ops: numbers of all sizes, special ones among them, within what an op is for."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from eas.ir.types import DType

Array = np.ndarray[Any, np.dtype[Any]]
Draw = Callable[[np.random.Generator, DType, int], list[Array]]

_SPECIAL = (0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 0.5)


def values(random: np.random.Generator, dtype: DType, size: int) -> Array:
    """Numbers of all sizes that a dtype has, and special ones in a quarter of the places."""
    if dtype.is_bool:
        return random.integers(0, 2, size).astype(np.bool_)
    if dtype.is_int:
        drawn = random.integers(dtype.min, dtype.max, size, dtype.numpy, endpoint=True)
        drawn = np.where(random.random(size) < 0.5, drawn, drawn % dtype.numpy.type(9))
        special = np.array([dtype.min, dtype.max, 0, 1], dtype.numpy)
    else:
        drawn = random.standard_normal(size) * 10 ** random.uniform(-3, 3, size)
        special = np.array(_SPECIAL)
    is_special = random.random(size) < 0.25
    return np.where(is_special, random.choice(special, size), drawn).astype(dtype.numpy)


def drawn(count: int) -> Draw:
    return lambda random, dtype, size: [values(random, dtype, size) for _ in range(count)]


def divided(random: np.random.Generator, dtype: DType, size: int) -> list[Array]:
    """A divisor that is no integer zero, but now and then minus one, by which the least wraps."""
    a, b = values(random, dtype, size), values(random, dtype, size)
    return [a, b] if dtype.is_float else [a, np.where(b == 0, ~b if dtype.is_signed else b + 1, b)]


def shifted(random: np.random.Generator, dtype: DType, size: int) -> list[Array]:
    amount = random.integers(0, dtype.bits, size).astype(dtype.numpy)
    return [values(random, dtype, size), amount]


def clamped(random: np.random.Generator, dtype: DType, size: int) -> list[Array]:
    a, low, high = drawn(3)(random, dtype, size)
    return [a, np.fmin(low, high), np.fmax(low, high)]


def chosen(random: np.random.Generator, dtype: DType, size: int) -> list[Array]:
    condition = random.integers(0, 2, size).astype(dtype.numpy)
    return [condition, *drawn(2)(random, dtype, size)]


def compared(random: np.random.Generator, dtype: DType, size: int) -> list[Array]:
    """Two operands that are equal in a third of the places."""
    a, b = drawn(2)(random, dtype, size)
    return [a, np.where(random.random(size) < 0.3, a, b)]


def within(low: float, high: float) -> Draw:
    """Where a function is neither out of its domain nor of the dtype's range."""

    def draw(random: np.random.Generator, dtype: DType, size: int) -> list[Array]:
        return [random.uniform(low, high, size).astype(dtype.numpy)]

    return draw


def powered(random: np.random.Generator, dtype: DType, size: int) -> list[Array]:
    return [*within(0.1, 9.0)(random, dtype, size), *within(-3.0, 3.0)(random, dtype, size)]
