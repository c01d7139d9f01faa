"""A sum that only some lanes reach."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def total(a, out, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    x = mk.load(a, i)
    if x > 0.0:
        mk.store(out, 0, mk.sum(x))


CASE = Broken(total, "*f32", "*f32", BLOCK=64)
