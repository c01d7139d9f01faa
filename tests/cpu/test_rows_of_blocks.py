"""Loops over lanes that do several rows at a time."""

from __future__ import annotations

import numpy as np
import pytest

import eas
from eas import mk


@eas.kernel
def double(x, y, ROWS: eas.constexpr, COLUMNS: eas.constexpr):
    i = mk.arange(0, ROWS)[:, None] * COLUMNS + mk.arange(0, COLUMNS)[None, :]
    mk.store(y, i, 2.0 * mk.load(x, i))


@pytest.mark.parametrize("rows", [3, 6, 7])
def test_no_row_behind_the_last_one_is_stored(rows: int) -> None:
    x = np.arange(16 * 8, dtype=np.float32)
    y = np.zeros_like(x)
    double[1](x, y, ROWS=rows, COLUMNS=8, _backend="cpu")
    np.testing.assert_array_equal(y, np.where(np.arange(16 * 8) < rows * 8, 2 * x, 0))
