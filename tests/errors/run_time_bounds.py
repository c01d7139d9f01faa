"""Blocks of indices that begin at a number of run time."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def copy(x, y, n, BLOCK: eas.constexpr):
    p = mk.program_id(0)
    i = mk.arange(p * BLOCK, p * BLOCK + BLOCK)
    j = mk.arange(p * BLOCK, (p + 1) * BLOCK)
    k = mk.arange(0, n)
    a = x[p * BLOCK : (p + 1) * BLOCK]
    b = x[:n]


CASE = Broken(copy, "*f32", "*f32", "i32", BLOCK=64)
