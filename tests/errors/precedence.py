"""Comparisons without parentheses beside `&` and `|`."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def keep(x, y, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    v = x[i]
    y[i] = mk.where(v > 0.25 & v < 0.75, v, 0.0)
    y[i] = mk.where(v < 0.0 | v > 1.0 | v == 0.5, v, 0.0)


CASE = Broken(keep, "*f32", "*f32", BLOCK=64)
