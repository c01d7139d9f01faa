"""A program writes what another one reads."""

import numpy as np

import eas
from eas import mk
from tests.errors.case import Faulty


@eas.kernel
def smooth(a, N, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    inside = (i > 0) & (i < N - 1)
    v = mk.load(a, i - 1, inside) + mk.load(a, i + 1, inside)
    mk.store(a, i, v / 2, inside)


def arguments():
    return {"a": np.arange(16, dtype="f4") ** 2, "N": 16, "BLOCK": 8}


CASE = Faulty(smooth, arguments, grid=2)
