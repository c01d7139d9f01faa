"""Random numbers: the published vectors of Philox, and how they are spread."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk
from eas.ir.ops import OPS

Array = np.ndarray[Any, np.dtype[Any]]

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
def draw(floats, normal, SIZE: eas.constexpr):
    i = mk.arange(0, SIZE)
    mk.store(floats, i, mk.rand(7, i))
    mk.store(normal, i, mk.randn(7, i))


def test_the_numbers_are_spread_as_they_should_be() -> None:
    size = 20000
    floats, normal = np.zeros(size, np.float32), np.zeros(size, np.float32)
    draw[(1,)](floats, normal, SIZE=size, _backend="interpret")
    assert floats.min() >= 0 and floats.max() < 1
    assert abs(floats.mean() - 0.5) < 0.01 and abs(floats.var() - 1 / 12) < 0.003
    assert abs(normal.mean()) < 0.03 and abs(normal.var() - 1) < 0.05
    counts, _ = np.histogram(floats, 20, (0, 1))
    assert ((counts - size / 20) ** 2 / (size / 20)).sum() < 45  # chi-squared, 19 degrees
