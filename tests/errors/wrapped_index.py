"""An index that wraps to below zero, where it would count from the end."""

import numpy as np

import eas
from eas import mk
from tests.errors.case import Faulty


@eas.kernel
def shifted(a, out, FAR):
    i = mk.program_id(0)
    out[i] = a[i + FAR + FAR]


def arguments():
    return {"a": np.ones(4, "f4"), "out": np.zeros(4, "f4"), "FAR": (1 << 31) - 1}


CASE = Faulty(shifted, arguments, grid=4)
