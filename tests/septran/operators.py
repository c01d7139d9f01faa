"""The operators of `examples/septran`: arguments of given sizes, and what NumPy makes of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from eas.septran.operators import Operator
from eas.septran.targets import opencl_run
from eas.septran.targets.needs import MissingError, missing
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


def batched_gemm(sizes: Sizes, dtype: str) -> Case:
    count, m, n, k = sizes
    a, b = random((count, m, k), dtype, 1), random((count, k, n), dtype, 2)
    bias = random((n,), dtype, 3)
    expected = _gelu(a.astype("f8") @ b.astype("f8") + bias.astype("f8"))
    return [unwritten((count, m, n), dtype), a, b, bias], expected


def softmax(sizes: Sizes, dtype: str) -> Case:
    x = random(sizes, dtype, 1)
    return [unwritten(sizes, dtype), x], _softmax(x.astype("f8"))


def layernorm(sizes: Sizes, dtype: str) -> Case:
    x = random(sizes, dtype, 1)
    weight, bias = random(sizes[1:], dtype, 2), random(sizes[1:], dtype, 3)
    centered = x.astype("f8") - x.astype("f8").mean(1, keepdims=True)
    normal = centered / np.sqrt((centered**2).mean(1, keepdims=True) + 1e-5)
    expected = normal * weight.astype("f8") + bias.astype("f8")
    return [unwritten(sizes, dtype), x, weight, bias], expected


def conv2d(sizes: Sizes, dtype: str) -> Case:
    count, p, q, outputs, r, s, channels = sizes
    x = random((count, p + r - 1, q + s - 1, channels), dtype, 1)
    weights = random((r, s, channels, outputs), dtype, 2)
    expected = np.zeros((count, p, q, outputs))
    for i in range(r):
        for j in range(s):
            expected += x[:, i : i + p, j : j + q].astype("f8") @ weights[i, j].astype("f8")
    return [unwritten(expected.shape, dtype), x, weights], expected


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


def _gelu(x: Array) -> Array:
    return x * np.vectorize(NormalDist().cdf, otypes="d")(x)


EXAMPLES = (
    Example("gemm", "gemm_logic.py", ((37, 45, 29), (1, 130, 67), (129, 65, 131)), gemm),
    Example(
        "batched_gemm",
        "batched_gemm_logic.py",
        ((2, 37, 45, 29), (1, 1, 130, 67), (3, 65, 67, 131)),
        batched_gemm,
    ),
    Example("softmax", "softmax_logic.py", ((13, 29), (1, 1), (67, 131)), softmax),
    Example("layernorm", "layernorm_logic.py", ((13, 29), (1, 3), (67, 131)), layernorm),
    Example(
        "conv2d",
        "conv2d_logic.py",
        ((1, 9, 37, 21, 3, 3, 5), (2, 5, 1, 3, 1, 4, 1), (2, 7, 33, 35, 5, 3, 17)),
        conv2d,
    ),
    Example(
        "flash_attention",
        "flash_attention_logic.py",
        ((2, 37, 37, 16), (1, 5, 5, 8), (3, 67, 67, 32)),
        attention,
    ),
)


def lack_of(operator: Operator) -> str:
    """What this computer does not have for an operator to run; nothing if it runs."""
    lacking = ", ".join(f"{need.kind} {need.name}" for need in missing(operator.library))
    if lacking or operator.target != "opencl":
        return lacking
    try:
        opencl_run.require_device()
    except MissingError as error:
        return str(error)
    return ""


def skip_unless_it_runs(operator: Operator) -> None:
    """Skips a test where what the machine needs is not installed, and says what."""
    if lacking := lack_of(operator):
        pytest.skip(f"{operator.machine.name} needs: {lacking}")


def case_of(example: Example, mapping: Path, sizes: Sizes, dtype: str) -> Case:
    if mapping.name.startswith("causal"):
        return attention(sizes, dtype, is_causal=True)
    return example.make(sizes, dtype)


def error_of(found: Array, expected: Array) -> float:
    """The largest difference, relative to one more than the largest number."""
    difference = np.abs(found.astype("f8") - expected).max()
    return float(difference / (1 + np.abs(expected).max()))
