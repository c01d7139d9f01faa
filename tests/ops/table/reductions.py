"""Reductions over a whole block and along each of its axes, with and without keeping that axis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

import eas
from eas import mk
from eas.ir.ops.reduce import accumulator
from eas.ir.types import BOOL, DTYPES, I32, DType
from tests.ops.shapes import BLOCKS, Shape, offsets
from tests.ops.table.comparing import without_signs_of_zeros
from tests.ops.table.family import Check, Family, Launch
from tests.ops.table.operands import Array, values
from tests.ops.table.records import accepts

Source = Literal["terms", "factors", "numbers", "rare", "usual"]
SOURCES: tuple[Source, ...] = ("terms", "factors", "numbers", "rare", "usual")


@dataclass(frozen=True)
class Reduction:
    """A reduction by its name in the IR: its function of `mk`, NumPy's, and what it reduces.

    `expected` takes integers as they are, and floats as f64; then it takes an axis.
    """

    name: str
    write: Any
    expected: Callable[[Array, int | None], Any]
    source: Source
    result: Callable[[DType], DType]

    def __hash__(self) -> int:
        return hash(self.name)


def _own(dtype: DType) -> DType:
    return dtype


def _index(dtype: DType) -> DType:
    del dtype
    return I32


def _truth(dtype: DType) -> DType:
    del dtype
    return BOOL


KINDS = (accumulator, _own, _index, _truth)


def _accumulated(function: Any) -> Callable[[Array, int | None], Any]:
    """In a format with room for all digits; integers wrap when they are brought back."""

    def reduce(a: Array, axis: int | None) -> Any:
        wide = np.float64 if a.dtype.kind == "f" else np.uint64 if a.dtype.kind == "u" else np.int64
        return function(a, axis, dtype=wide)

    return reduce


def _extreme(function: Any, worst: float) -> Callable[[Array, int | None], Any]:
    """NaNs do not count; of nothing else, the extreme is the worst number."""

    def reduce(a: Array, axis: int | None) -> Any:
        return function(np.where(np.isnan(a), worst, a) if a.dtype.kind == "f" else a, axis)

    return reduce


def _parity(a: Array, axis: int | None) -> Any:
    return np.bitwise_xor.reduce(a.ravel() if axis is None else a, axis or 0)


REDUCTIONS = (
    Reduction("reduce_sum", mk.sum, _accumulated(np.sum), "terms", accumulator),
    Reduction("reduce_prod", mk.prod, _accumulated(np.prod), "factors", accumulator),
    Reduction("reduce_max", mk.max, _extreme(np.max, -np.inf), "numbers", _own),
    Reduction("reduce_min", mk.min, _extreme(np.min, np.inf), "numbers", _own),
    Reduction("reduce_argmax", mk.argmax, _extreme(np.argmax, -np.inf), "numbers", _index),
    Reduction("reduce_argmin", mk.argmin, _extreme(np.argmin, np.inf), "numbers", _index),
    Reduction("reduce_xor", mk.xor_sum, _parity, "numbers", _own),
    Reduction("reduce_any", mk.any, np.any, "rare", _truth),
    Reduction("reduce_all", mk.all, np.all, "usual", _truth),
)


def is_taken(reduction: Reduction, dtype: DType) -> bool:
    """What asks for truth takes every dtype: zero is false."""
    return reduction.result is _truth or accepts(reduction.name, dtype)


def drawn(random: np.random.Generator, dtype: DType, shape: Shape) -> dict[Source, Array]:
    """Blocks to reduce, such that the order does not matter and each lane does."""
    size = int(np.prod(shape))
    numbers = values(random, dtype, size)
    rare = (random.random(size) < 0.05).astype(dtype.numpy)
    usual = (random.random(size) < 0.95).astype(dtype.numpy)
    if dtype.is_float:
        terms = random.integers(-2, 3, size).astype(dtype.numpy)
        factors = random.choice([-1.0, 1.0], size).astype(dtype.numpy)
        factors[random.integers(0, size, 3)] *= dtype.numpy.type(2)
    else:
        terms, factors = numbers, usual if dtype.is_bool else numbers | numbers.dtype.type(1)
    blocks = (terms, factors, numbers, rare, usual)
    return {name: a.reshape(shape) for name, a in zip(SOURCES, blocks, strict=True)}


@eas.kernel
def reduce_each(
    blocks, totals, own, places, truths,
    CASES: eas.constexpr, SHAPE: eas.constexpr, SIZE: eas.constexpr,
):  # fmt: skip
    """Each case is a row of an array, a function, the number of a block, an axis, and its fate."""
    outs = (totals, own, places, truths)
    for which, row, function, source, axis, keeps in CASES:
        v = mk.load(blocks, source * SIZE + offsets(SHAPE))
        result = function(v, axis, keep_dims=keeps)
        mk.store(outs[which], row * SIZE + offsets(result.shape), result)


def launch(dtype: DType, shape: Shape) -> Launch:
    size = int(np.prod(shape))
    blocks = drawn(np.random.default_rng(size), dtype, shape)
    taken = [reduction for reduction in REDUCTIONS if is_taken(reduction, dtype)]
    ways = [(reduction, axis) for reduction in taken for axis in (None, *range(len(shape)))]
    kinds = [reduction.result for reduction, _ in ways]
    outs = [np.zeros((max(kinds.count(k), 1), size), k(dtype).numpy) for k in KINDS]
    cases: list[Any] = []
    checks: list[Check] = []
    for number, (reduction, axis) in enumerate(ways):
        keeps = number % 2 == 1
        which, row = KINDS.index(kinds[number]), kinds[:number].count(kinds[number])
        right = expected(reduction, blocks[reduction.source], axis, dtype)
        words = f"{reduction.name} along {axis}{' (kept)' if keeps else ''}"
        found = outs[which][row, : right.size]
        checks.append(Check(words, found, right, arrange=without_signs_of_zeros))
        source = SOURCES.index(reduction.source)
        cases.append((which, row, reduction.write, source, axis, keeps))
    arrays = dict(zip(("totals", "own", "places", "truths"), outs, strict=True))
    given = {"CASES": tuple(cases), "SHAPE": shape, "SIZE": size}
    return Launch(reduce_each, {"blocks": np.stack([*blocks.values()]), **arrays, **given}, checks)


def expected(reduction: Reduction, block: Array, axis: int | None, dtype: DType) -> Array:
    wide = block.astype(np.float64) if dtype.is_float else block
    with np.errstate(all="ignore"):
        found = np.asarray(reduction.expected(wide, axis))
        return found.ravel().astype(reduction.result(dtype).numpy)


REDUCED = Family("reduce", tuple(DTYPES.values()), BLOCKS, launch)
