"""Lanes diverge at a condition over several lines."""

import eas
from eas import mk
from tests.errors.case import Broken


# fmt: off
@eas.kernel
def total(a, out, n, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    x = mk.load(a, i)
    if (
        x > 0.0
        and i < n
    ):
        mk.store(out, 0, mk.sum(x))


CASE = Broken(total, "*f32", "*f32", "i32", BLOCK=64)
