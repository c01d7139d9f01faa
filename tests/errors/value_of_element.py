"""Values that an element of an array cannot take: the error is at the value."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def fill(counts, n):
    i = mk.arange(0, 64)
    counts[i] = 1.5 * n
    counts[i] = mk.arange(0, 32)
    counts[i] = None


CASE = Broken(fill, "*i32[:]", "i32")
