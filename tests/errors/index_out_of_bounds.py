"""An index outside of an axis."""

import numpy as np

import eas
from eas import mk
from tests.errors.case import Faulty


@eas.kernel
def diagonal(a, out, n):
    i = mk.program_id(0)
    out[i] = a[i, i + n]


def arguments():
    return {"a": np.ones((4, 6), "f4"), "out": np.zeros(4, "f4"), "n": 3}


CASE = Faulty(diagonal, arguments, grid=4)
