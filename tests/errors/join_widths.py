"""Two ints of different width."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def pick(a, b, out):
    x = mk.load(a, 0)
    if x < 0:
        x = mk.load(b, 0)
    mk.store(out, 0, x)


CASE = Broken(pick, "*i32", "*i64", "*i64")
