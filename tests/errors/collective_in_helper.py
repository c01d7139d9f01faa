"""A sum in a helper that only some lanes call."""

import eas
from eas import mk
from tests.errors.case import Broken


def normalized(x):
    return x / mk.sum(x)


@eas.kernel
def scale(a, out, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    x = mk.load(a, i)
    if x > 0.0:
        mk.store(out, i, normalized(x))


CASE = Broken(scale, "*f32", "*f32", BLOCK=64)
