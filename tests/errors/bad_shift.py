"""A shift by more than the width."""

import numpy as np

import eas
from eas import mk
from tests.errors.case import Faulty


@eas.kernel
def shift(a, out, n):
    i = mk.program_id(0)
    mk.store(out, i, mk.load(a, i) << n)


def arguments():
    return {"a": np.ones(2, "i4"), "out": np.zeros(2, "i4"), "n": 32}


CASE = Faulty(shift, arguments, grid=2)
