"""A `while` that may not run, and a name that is used on its first trip."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def halve(out, n):
    while n > 1:
        if n % 2 == 1:
            mk.store(out, 1, odd)
        odd = n
        n = n // 2
    mk.store(out, 0, odd)


CASE = Broken(halve, "*i32", "i32")
