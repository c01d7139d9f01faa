"""A bool and an int."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def flag(a, out):
    found = False
    for i in range(16):
        if mk.load(a, i) > 0.0:
            found = 1
    mk.store(out, 0, found)


CASE = Broken(flag, "*f32", "*i32")
