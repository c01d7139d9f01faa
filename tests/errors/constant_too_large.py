"""Ints that no type can hold."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def shift(a, n):
    mk.store(a, 0, n + (1 << 70))
    mk.store(a, 1, 2**5000)


CASE = Broken(shift, "*i64", "i64")
