"""A number cannot be unpacked."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def split(a, out):
    x, y = mk.load(a, 0)
    mk.store(out, 0, x + y)


CASE = Broken(split, "*f32", "*f32")
