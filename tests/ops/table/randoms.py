"""Random numbers of seeds and offsets of every integer dtype."""

from __future__ import annotations

import numpy as np

import eas
from eas import mk
from eas.ir.ops import OPS
from eas.ir.types import DTYPES, DType
from tests.ops.shapes import SHAPES, Shape, moves, offsets
from tests.ops.table.family import Check, Family, Launch
from tests.ops.table.operands import Array, values


@eas.kernel
def draw(seeds, counters, words, first, uniform, normal, SHAPE: eas.constexpr, SIZE: eas.constexpr):
    at = offsets(SHAPE)
    seed, counter = mk.load(seeds, at), mk.load(counters, at)
    for k, word in enumerate(mk.randint4x(seed, counter)):
        mk.store(words, k * SIZE + at, word)
    mk.store(first, at, mk.randint(seed, counter))
    mk.store(uniform, at, mk.rand(seed, counter))
    mk.store(normal, at, mk.randn(seed, counter))


def launch(dtype: DType, shape: Shape) -> Launch:
    size = int(np.prod(shape))
    random = np.random.default_rng(size)
    seeds, counters = values(random, dtype, size), values(random, dtype, size)
    right = philox(seeds, counters)
    words, first = np.zeros((4, size), np.uint32), np.zeros(size, np.uint32)
    uniform, normal = np.zeros(size, np.float32), np.zeros(size, np.float32)
    checks = [
        Check("randint4x", words, right),
        Check("randint", first, right[0]),
        Check("rand", uniform, fractions(right[0]).astype(np.float32)),
        Check("randn", normal, box_muller(right), 8, arrange=above_zero),
    ]
    arrays = {"seeds": seeds, "counters": counters, "words": words, "first": first}
    given = {"uniform": uniform, "normal": normal, "SHAPE": shape, "SIZE": size}
    return Launch(draw, {**arrays, **given}, checks)


def philox(seeds: Array, counters: Array) -> Array:
    """The words that a counter gives under a key: `test_random` checks their meaning."""
    zero = np.zeros(seeds.size, np.uint32)
    operands = [*halves(counters), zero, zero, *halves(seeds)]
    return np.stack([OPS["philox"].meaning(*operands, word=word) for word in range(4)])


def halves(a: Array) -> tuple[Array, Array]:
    """The lower and the upper 32 bits; what has no more than 32 has no upper ones."""
    high = a >> a.dtype.type(32) if a.dtype.itemsize == 8 else np.zeros_like(a)
    return a.astype(np.uint32), high.astype(np.uint32)


def fractions(words: Array) -> Array:
    return (words >> np.uint32(8)).astype(np.float64) * 2.0**-24


def box_muller(words: Array) -> Array:
    u, v = fractions(words[0]), fractions(words[1])
    right = np.sqrt(-2 * np.log(np.maximum(u, 2.0**-31))) * np.cos(2 * np.pi * v)
    return right.astype(np.float32)


def above_zero(a: Array) -> Array:
    """Moved away from zero, where a unit in the last place is nothing."""
    return a + np.float32(8)


INTEGERS = tuple(dtype for dtype in DTYPES.values() if dtype.is_int)
DRAWN = Family("random", INTEGERS, SHAPES, launch, moves)
