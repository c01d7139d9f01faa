"""An integer is divided by zero."""

import numpy as np

import eas
from eas import mk
from tests.errors.case import Faulty


def ratio(x, y):
    return x // y


@eas.kernel
def divide(a, b, out, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    mk.store(out, i, ratio(mk.load(a, i), mk.load(b, i)))


def arguments():
    a, b = np.full(8, 7, "i4"), np.array([1, 2, 3, 0, 1, 2, 3, 0], "i4")
    return {"a": a, "b": b, "out": np.zeros(8, "i4"), "BLOCK": 8}


CASE = Faulty(divide, arguments)
