"""Functions that cannot combine elements: each for a reason of its own."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def combined(a, out, factor):
    x = mk.load(a, mk.arange(0, 8))
    mk.store(out, 0, mk.reduce(x, 0, lambda s, v: s * factor + v))
    mk.store(out, 1, mk.reduce(x, 0, lambda s, v: s + mk.load(a, 0)))
    mk.store(out, 2, mk.reduce(x, 0, lambda s, v: (s, v)))
    mk.store(out, 3, mk.reduce(mk.arange(0, 8), 0, lambda s, v: s / v))


CASE = Broken(combined, "*f32", "*f32", "f32")
