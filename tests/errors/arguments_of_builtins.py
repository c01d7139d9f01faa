"""Wrong arguments of Python's own functions and of methods."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def apply(a, n):
    x = mk.load(a, 0)
    mk.store(a, 0, abs(x, x))
    mk.store(a, 1, x.to())
    mk.store(a, 2, max())
    for i in range(1, 2, 3, 4):
        mk.store(a, i, round(x, 2))


CASE = Broken(apply, "*f32", "i32")
