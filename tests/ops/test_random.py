"""Random numbers: the published vectors of Philox, the same bits everywhere, and their spread."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.ops import OPS

Array = np.ndarray[Any, np.dtype[Any]]
BACKENDS = ("interpret", "cpu", "msl-host")

# Random123's file `kat_vectors`, philox4x32 with 10 rounds: counter, key, result.
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000",
     "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff",
     "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0",
     "d16cfe09 94fdcceb 5001e420 24126ea1"),
]  # fmt: skip


def words(text: str) -> list[Array]:
    return [np.array([int(word, 16)], np.uint32) for word in text.split()]


@pytest.mark.parametrize(("counter", "key", "result"), KNOWN)
def test_philox_gives_the_published_words(counter: str, key: str, result: str) -> None:
    operands = [*words(counter), *words(key)]
    found = [OPS["philox"].meaning(*operands, word=word) for word in range(4)]
    np.testing.assert_array_equal(found, words(result))


@eas.kernel
def draw(seeds, offsets, ints, floats, normal, SIZE: eas.constexpr):
    i = mk.arange(0, SIZE)
    seed, offset = mk.load(seeds, i), mk.load(offsets, i)
    for k, word in enumerate(mk.randint4x(seed, offset)):
        mk.store(ints, k * SIZE + i, word)
    mk.store(ints, i, mk.randint(seed, offset))
    mk.store(floats, i, mk.rand(seed, offset))
    mk.store(normal, i, mk.randn(seed, offset))


@pytest.mark.parametrize("backend", BACKENDS)
def test_seed_and_offset_are_the_key_and_the_counter(backend: str) -> None:
    random = np.random.default_rng(0)
    seeds, offsets = (random.integers(-(2**63), 2**63, 1000, np.int64) for _ in range(2))
    seeds[0] = offsets[0] = 0
    ints = np.zeros((4, 1000), np.uint32)
    floats, normal = np.zeros(1000, np.float32), np.zeros(1000, np.float32)
    draw[(1,)](seeds, offsets, ints, floats, normal, SIZE=1000, _backend=backend)
    np.testing.assert_array_equal(ints[:, 0], np.concatenate(words(KNOWN[0][2])))
    low, high = (offsets & 0xFFFFFFFF).astype("u4"), (offsets >> 32 & 0xFFFFFFFF).astype("u4")
    keys = (seeds & 0xFFFFFFFF).astype("u4"), (seeds >> 32 & 0xFFFFFFFF).astype("u4")
    zero = np.zeros(1000, np.uint32)
    for word in range(4):
        right = OPS["philox"].meaning(low, high, zero, zero, *keys, word=word)
        np.testing.assert_array_equal(ints[word], right)
    np.testing.assert_array_equal(floats, (ints[0] >> 8).astype("f4") * np.float32(2**-24))
    u, v = (ints[k].astype("f8") // 256 * 2.0**-24 for k in (0, 1))
    right = np.sqrt(-2 * np.log(np.maximum(u, 2.0**-31))) * np.cos(2 * np.pi * v)
    np.testing.assert_allclose(normal, right, atol=1e-5)


def test_the_numbers_are_spread_as_they_should_be() -> None:
    size = 20000
    seeds, offsets = np.full(size, 7, np.int32), np.arange(size, dtype=np.int32)
    ints = np.zeros((4, size), np.uint32)
    floats, normal = np.zeros(size, np.float32), np.zeros(size, np.float32)
    draw[(1,)](seeds, offsets, ints, floats, normal, SIZE=size, _backend="interpret")
    assert floats.min() >= 0 and floats.max() < 1
    assert abs(floats.mean() - 0.5) < 0.01 and abs(floats.var() - 1 / 12) < 0.003
    assert abs(normal.mean()) < 0.03 and abs(normal.var() - 1) < 0.05
    counts, _ = np.histogram(floats, 20, (0, 1))
    assert ((counts - size / 20) ** 2 / (size / 20)).sum() < 45  # chi-squared, 19 degrees
