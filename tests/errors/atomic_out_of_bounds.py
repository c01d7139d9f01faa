"""An atomic operation outside of an array."""

import numpy as np

import eas
from eas import mk
from tests.errors.case import Faulty


@eas.kernel
def histogram(a, bins, BLOCK: eas.constexpr):
    x = mk.load(a, mk.arange(0, BLOCK))
    mk.atomic_add(bins, x, 1)


def arguments():
    return {"a": np.arange(16, dtype="i4"), "bins": np.zeros(10, "i4"), "BLOCK": 16}


CASE = Faulty(histogram, arguments)
