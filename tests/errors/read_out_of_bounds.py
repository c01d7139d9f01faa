"""A load without a mask at the end of an array."""

import numpy as np

import eas
from eas import mk
from tests.errors.case import Faulty


@eas.kernel
def copy(a, out, N, BLOCK: eas.constexpr):
    offs = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    x = mk.load(a, offs)
    mk.store(out, offs, x, mask=offs < N)


def arguments():
    return {"a": np.ones(100, "f4"), "out": np.zeros(100, "f4"), "N": 100, "BLOCK": 64}


CASE = Faulty(copy, arguments, grid=2)
