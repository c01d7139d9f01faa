"""`is` between values that are known at run time only."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def same(a, out):
    x = mk.load(a, 0)
    y = mk.load(a, 1)
    mk.store(out, 0, x is y)


CASE = Broken(same, "*f32", "*bool")
