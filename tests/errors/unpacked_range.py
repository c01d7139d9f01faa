"""The numbers of a range are not pairs."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def pairs(out, n):
    for i, j in range(n):
        mk.store(out, i, j)


CASE = Broken(pairs, "*i32", "i32")
