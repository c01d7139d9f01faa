"""A sum in a conditional expression and behind `and`."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def scale(a, out, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    x = mk.load(a, i)
    y = x / mk.sum(x) if x > 0.0 else 0.0
    mk.store(out, i, y)
    mk.store(out, i, x > 0.0 and mk.any(x < 1.0))


CASE = Broken(scale, "*f32", "*f32", BLOCK=64)
