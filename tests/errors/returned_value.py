"""A kernel that returns a value."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def double(a):
    x = mk.load(a, 0)
    if x > 0.0:
        return x * 2.0
    mk.store(a, 0, 0.0)


CASE = Broken(double, "*f32")
