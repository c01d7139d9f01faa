"""A sum in a loop that lanes leave at different times."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def shrink(a, out, BLOCK: eas.constexpr):
    x = mk.load(a, mk.arange(0, BLOCK))
    while x > 1.0:
        x = x / 2.0
        mk.store(out, 0, mk.sum(x))


CASE = Broken(shrink, "*f32", "*f32", BLOCK=64)
