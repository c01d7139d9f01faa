"""A loop over an array."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def total(a, out):
    s = 0.0
    for x in a:
        s += x
    mk.store(out, 0, s)


CASE = Broken(total, "*f32", "*f32")
