"""Kernels as people write them by hand for Metal, each with NumPy's word for what it gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
FOLDER = Path(__file__).parent / "handwritten"


@dataclass(frozen=True)
class Example:
    """A text in `handwritten/`, its buffers, and what each written buffer holds in the end."""

    buffers: Callable[[], list[Any]]
    expected: Callable[..., dict[int, Array]]
    groups: tuple[int, int, int] = (1, 1, 1)
    threads: tuple[int, int, int] = (1, 1, 1)
    tolerance: float = 0.0
    shared: dict[int, int] = field(default_factory=dict[int, int])


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.metal").read_text("utf-8")


def floats(*shape: int) -> Array:
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


def softmax(x: Array, *_: Any) -> dict[int, Array]:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return {1: powers / powers.sum(axis=1, keepdims=True)}


def bfloat(x: Array) -> Array:
    return x.astype(ml_dtypes.bfloat16)


def half_and_bfloat(h: Array, b: Array, *_: Any) -> dict[int, Array]:
    wide = h.astype(np.float32) * b.astype(np.float32)
    return {2: (h * h + h), 3: bfloat(wide)}


PARAMS = np.array([(3, 2.5, (1, 2, 3, 4))], "i4, f4, (4,)i4")

EXAMPLES: dict[str, Example] = {
    "tree_reduction": Example(
        lambda: [floats(1000), np.zeros(4, np.float32), np.uint32(1000)],
        lambda x, *_: {1: np.array([x[n : n + 256].sum() for n in range(0, 1000, 256)])},
        (4, 1, 1),
        (256, 1, 1),
        1e-6,
    ),
    "tiled_matmul": Example(
        lambda: [floats(32, 24), floats(24, 16), np.zeros((32, 16), np.float32), np.uint32(24)],
        lambda a, b, *_: {2: a @ b},
        (2, 4, 1),
        (32, 1, 1),
        1e-5,
    ),
    "softmax": Example(
        lambda: [floats(5, 300), np.zeros((5, 300), np.float32), np.uint32(300)],
        softmax,
        (5, 1, 1),
        (128, 1, 1),
        1e-6,
        {0: 128},
    ),
    "bitonic_sort": Example(
        lambda: [floats(256)],
        lambda x: {0: np.sort(x)},
        (1, 1, 1),
        (256, 1, 1),
    ),
    "histogram": Example(
        lambda: [
            np.random.default_rng(2).integers(0, 16, 500).astype(np.uint8),
            np.zeros(16, np.uint32),
            np.uint32(500),
        ],
        lambda data, *_: {1: np.bincount(data, minlength=16).astype(np.uint32)},
        (8, 1, 1),
        (64, 1, 1),
    ),
    "half_and_bfloat": Example(
        lambda: [
            floats(64).astype(np.float16),
            bfloat(floats(64)),
            np.zeros(64, np.float16),
            bfloat(np.zeros(64)),
        ],
        half_and_bfloat,
        (2, 1, 1),
        (32, 1, 1),
    ),
    "struct_in_constant": Example(
        lambda: [floats(50), np.zeros(50, np.float32), PARAMS.view(np.uint8)],
        lambda x, *_: {1: np.float32(2.5) * x + np.float32(3) + np.arange(50) % 4 + np.float32(1)},
        (1, 1, 1),
        (50, 1, 1),
        1e-6,
    ),
    "vectors": Example(
        lambda: [floats(64), np.zeros(16, np.float32)],
        lambda x, *_: {1: (x.reshape(16, 4) * [4, 3, 2, 1]).sum(axis=1) + x.reshape(16, 4).max(1)},
        (1, 1, 1),
        (16, 1, 1),
        1e-6,
    ),
}
