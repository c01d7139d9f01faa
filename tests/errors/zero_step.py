"""A range whose step is zero."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def steps(out, n):
    for i in range(0, n, 0):
        mk.store(out, i, 1)


CASE = Broken(steps, "*i32", "i32")
