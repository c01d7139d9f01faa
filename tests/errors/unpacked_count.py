"""Too few and too many names."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def split(out, n):
    x, y = n, n + 1, n + 2
    p, *q, r = (n,)
    mk.store(out, 0, x)


CASE = Broken(split, "*i32", "i32")
