"""Calls of `mma` and `mma_store` that begin with neither a matrix nor an array."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def multiply(a, b, c):
    t = mk.tid(0, 32)
    acc = mk.mma(t, a, 0, b, 0, 8, 8)
    acc = mk.mma(mk.mma_zero(), a, b=b, a_offs=0, b_base=0)
    mk.mma_store(0, c, 8, acc)


CASE = Broken(multiply, "*f32", "*f32", "*f32")
