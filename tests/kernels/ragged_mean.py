"""The mean of rows of different lengths; a program whose row is empty returns at once."""

import math
from itertools import pairwise

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def ragged_mean(x, starts, means, BLOCK: eas.constexpr):
    row = mk.program_id(0)
    begin, end = mk.load(starts, row), mk.load(starts, row + 1)
    if begin == end:
        mk.store(means, row, math.nan)
        return
    total = 0.0
    for start in range(begin, end, BLOCK):
        offs = start + mk.arange(0, BLOCK)
        total += mk.sum(mk.load(x, offs, offs < end))
    mk.store(means, row, total / (end - begin))


def arguments() -> Arguments:
    starts = np.array([0, 5, 5, 37, 38, 101], "i4")
    return {"x": floats(101), "starts": starts, "means": np.zeros(5, "f4"), "BLOCK": 16}


def reference(x: Array, starts: Array, **_: object) -> dict[str, Array]:
    rows = [x[a:b].astype("f8") for a, b in pairwise(starts)]
    return {"means": np.array([row.mean() if row.size else math.nan for row in rows])}


CASE = Case(ragged_mean, arguments, reference, grid=(5,), tolerance=1e-5)
