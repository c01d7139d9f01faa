"""A range whose step turns out to be zero."""

import numpy as np

import eas
from eas import mk
from tests.errors.case import Faulty


@eas.kernel
def stride(out, n, step):
    for i in range(0, n, step):
        mk.store(out, i, 1.0)


def arguments():
    return {"out": np.zeros(8, "f4"), "n": 8, "step": 0}


CASE = Faulty(stride, arguments)
