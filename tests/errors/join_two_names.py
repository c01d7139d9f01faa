"""Two names of one `if`, both with two types."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def pair(a, out, n):
    low = 0
    high = True
    if n > 2:
        low = 0.5
        high = n
    mk.store(out, 0, low)
    mk.store(out, 1, high)


CASE = Broken(pair, "*f32", "*f32", "i32")
