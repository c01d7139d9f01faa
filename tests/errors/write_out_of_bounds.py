"""A store to a negative offset."""

import numpy as np

import eas
from eas import mk
from tests.errors.case import Faulty


@eas.kernel
def shift(a, N, BLOCK: eas.constexpr):
    offs = mk.arange(0, BLOCK)
    mk.store(a, offs - 1, 1.0, mask=offs < N)


def arguments():
    return {"a": np.zeros(8, "f4"), "N": 8, "BLOCK": 16}


CASE = Faulty(shift, arguments)
