"""A name that is an int on one path and a float on the other."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def blur(a, out):
    w = mk.load(a, 0)
    v = 0
    if w > 0:
        v = 1.5 * w
    mk.store(out, 0, v)


CASE = Broken(blur, "*f32", "*f32")
