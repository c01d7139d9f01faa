"""NumPy: whole arrays at once."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def add(a: Array, b: Array, c: Array) -> None:
    np.add(a, b, out=c)


def saxpy(x: Array, y: Array) -> None:
    np.add(y, 2.0 * x, out=y)


def softmax(x: Array, y: Array) -> None:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    np.divide(powers, powers.sum(axis=1, keepdims=True), out=y)


def layernorm(x: Array, weight: Array, bias: Array, y: Array) -> None:
    mean = x.mean(axis=1, keepdims=True)
    normal = (x - mean) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    np.add(normal * weight, bias, out=y)


def matmul(a: Array, b: Array, c: Array) -> None:
    np.matmul(a, b, out=c)


def histogram(data: Array, counts: Array) -> None:
    counts += np.bincount(data, minlength=len(counts)).astype(counts.dtype)


def prefix_sum(x: Array, y: Array) -> None:
    np.cumsum(x, out=y)


def mandelbrot(out: Array, width: int, height: int, limit: int) -> None:
    """All points at once, those that have escaped too."""
    i = np.arange(width * height, dtype=np.int32)
    two = np.float32(2)
    cx = np.float32(-2) + np.float32(2.5) * (i % width).astype(np.float32) / np.float32(width)
    cy = np.float32(-1.25) + np.float32(2.5) * (i // width).astype(np.float32) / np.float32(height)
    x, y = np.zeros_like(cx), np.zeros_like(cy)
    out[:] = 0
    inside = np.ones(i.shape, np.bool_)
    with np.errstate(all="ignore"):
        for _ in range(limit):
            inside &= x * x + y * y < 4
            out += inside
            x, y = x * x - y * y + cx, two * x * y + cy
