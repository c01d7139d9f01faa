"""Conditions of two shapes that do not fit together."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def both(a, b, out):
    x = mk.load(a, mk.arange(0, 64))
    y = mk.load(b, mk.arange(0, 32))
    if x > 0.0:
        if y > 0.0:
            mk.store(out, 0, 1.0)


CASE = Broken(both, "*f32", "*f32", "*f32")
