"""A name that one of three branches leaves without a value."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def sign(a, out):
    x = mk.load(a, 0)
    if x > 0.0:
        s = 1
    elif x < 0.0:
        mk.store(out, 1, 0)
    else:
        s = 0
    mk.store(out, 0, s)


CASE = Broken(sign, "*f32", "*i32")
