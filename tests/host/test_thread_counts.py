"""Reductions by threads that do not fill the last simdgroup."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eas
from eas import mk


@eas.kernel
def add_up(x, y, BLOCK: eas.constexpr):
    v = mk.load(x, mk.arange(0, BLOCK))
    mk.store(y, 0, mk.sum(v))
    mk.store(y, 1, mk.max(v))


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
@pytest.mark.parametrize("threads", [33, 40])
def test_threads_beyond_the_last_whole_simdgroup_count(dtype: Any, threads: int) -> None:
    x, y = np.arange(1, 129, dtype=dtype), np.zeros(2, dtype)
    add_up[1](x, y, BLOCK=128, _tptg=threads, _backend="msl-host")
    np.testing.assert_array_equal(y, [x.sum(), x.max()])


def test_values_of_64_bits_are_not_shuffled_in_part_of_a_simdgroup() -> None:
    """Metal has no shuffle for them: two of 32 bits need all lanes."""
    text = add_up.to_msl("*i64", "*i64", BLOCK=128, _tptg=40)
    assert "simd_" not in text
