"""A generator that is not used up at once: Python works its items out one by one."""

import eas
from tests.errors.case import Broken


def total(values):
    return sum(values)


@eas.kernel
def squares(a, out):
    kept = (a[i] * a[i] for i in range(4))
    out[0] = total(a[i] for i in range(4))
    for square in (a[i] * a[i] for i in range(4)):
        out[1] += square
    out[2] = sum(kept)


CASE = Broken(squares, "*f32[:]", "*f32[:]")
