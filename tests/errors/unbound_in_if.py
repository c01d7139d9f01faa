"""A name that only the `if` gives a value."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def sign(a, out):
    x = mk.load(a, 0)
    if x > 0.0:
        s = 1
    mk.store(out, 0, s)


CASE = Broken(sign, "*f32", "*i32")
