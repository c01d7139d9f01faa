"""Operators on bits, applied to floats."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def bits(a, out):
    x = mk.load(a, 0)
    mk.store(out, 0, x & 1)
    mk.store(out, 1, x << 2)
    mk.store(out, 2, ~x)
    mk.store(out, 3, mk.popcount(x))


CASE = Broken(bits, "*f32", "*f32")
