"""The operators of `examples/septran`: arguments of given sizes, and what NumPy makes of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from eas.support.records import frozen

REPOSITORY = Path(__file__).parent.parent.parent
FOLDER = REPOSITORY / "examples" / "septran"

Array = np.ndarray[Any, Any]
Sizes = tuple[int, ...]
# The arrays of a call, the first of which is written, and what it holds then.
Case = tuple[list[Array], Array]


@frozen(eq=False)
class Example:
    """An operator: its logic, and odd sizes to try it with, the smallest first."""

    name: str
    logic: str
    sizes: tuple[Sizes, ...]
    make: Callable[[Sizes, str], Case]

    @property
    def logic_file(self) -> Path:
        return FOLDER / self.name / self.logic

    @property
    def mappings(self) -> list[Path]:
        return sorted((FOLDER / self.name).glob("*.map.yaml"))


def random(shape: Sizes, dtype: str, seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def unwritten(shape: Sizes, dtype: str) -> Array:
    return np.full(shape, np.nan, dtype)


def gemm(sizes: Sizes, dtype: str) -> Case:
    m, n, k = sizes
    a, b = random((m, k), dtype, 1), random((k, n), dtype, 2)
    return [unwritten((m, n), dtype), a, b], a.astype("f8") @ b.astype("f8")


def softmax(sizes: Sizes, dtype: str) -> Case:
    x = random(sizes, dtype, 1)
    return [unwritten(sizes, dtype), x], _softmax(x.astype("f8"))


def attention(sizes: Sizes, dtype: str, is_causal: bool = False) -> Case:
    heads, queries, keys, width = sizes
    q = random((heads, queries, width), dtype, 1)
    k, v = random((heads, keys, width), dtype, 2), random((heads, keys, width), dtype, 3)
    scores = q.astype("f8") @ k.astype("f8").transpose(0, 2, 1) / np.sqrt(width)
    if is_causal:
        is_later = np.arange(keys)[None, :] > np.arange(queries)[:, None]
        scores = np.where(is_later, -np.inf, scores)
    return [unwritten(q.shape, dtype), q, k, v], _softmax(scores) @ v.astype("f8")


def _softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


EXAMPLES = (
    Example("gemm", "gemm_logic.py", ((37, 45, 29), (1, 130, 67), (129, 65, 131)), gemm),
    Example("softmax", "softmax_logic.py", ((13, 29), (1, 1), (67, 131)), softmax),
    Example(
        "flash_attention",
        "flash_attention_logic.py",
        ((2, 37, 37, 16), (1, 5, 5, 8), (3, 67, 67, 32)),
        attention,
    ),
)


def case_of(example: Example, mapping: Path, sizes: Sizes, dtype: str) -> Case:
    if mapping.name.startswith("causal"):
        return attention(sizes, dtype, is_causal=True)
    return example.make(sizes, dtype)


def error_of(found: Array, expected: Array) -> float:
    """The largest difference, relative to one more than the largest number."""
    difference = np.abs(found.astype("f8") - expected).max()
    return float(difference / (1 + np.abs(expected).max()))
