"""Lanes diverge at two conditions, and not at the third."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def total(a, out, n, BLOCK: eas.constexpr):
    x = mk.load(a, mk.arange(0, BLOCK))
    if x > 0.0:
        pass
    elif n > 4:
        if x < -1.0:
            mk.store(out, 0, mk.max(x))


CASE = Broken(total, "*f32", "*f32", "i32", BLOCK=64)
