"""A loop that may not run leaves its names without a value."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def last(a, out, n):
    for i in range(n):
        x = mk.load(a, i)
    mk.store(out, 0, x)
    mk.store(out, 1, i)


CASE = Broken(last, "*f32", "*f32", "i32")
