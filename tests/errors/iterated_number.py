"""A loop over a number, and over a block."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def loop(out, n):
    for i in n:
        mk.store(out, i, 1)
    for x in mk.arange(0, 8):
        mk.store(out, x, 1)


CASE = Broken(loop, "*i32", "i32")
