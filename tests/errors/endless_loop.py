"""A loop that does not end."""

import numpy as np

import eas
from eas import mk
from tests.errors.case import Faulty


@eas.kernel
def collatz(a, out, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    n = mk.load(a, i)
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    mk.store(out, i, steps)


def arguments():
    return {"a": np.array([6, 7, 0, 9], "i4"), "out": np.zeros(4, "i4"), "BLOCK": 4}


CASE = Faulty(collatz, arguments)
