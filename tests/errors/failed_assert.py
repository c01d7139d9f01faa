"""An assertion that fails for one lane."""

import numpy as np

import eas
from eas import mk
from tests.errors.case import Faulty


@eas.kernel
def root(a, out, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    x = mk.load(a, i)
    assert x >= 0.0, f"the root of a number below zero, BLOCK is {BLOCK}"
    mk.store(out, i, mk.sqrt(x))


def arguments():
    return {"a": np.array([1, 4, -9, 16], "f4"), "out": np.zeros(4, "f4"), "BLOCK": 4}


CASE = Faulty(root, arguments)
