"""Two functions that call each other."""

import eas
from eas import mk
from tests.errors.case import Broken


def is_even(n):
    if n == 0:
        return True
    return is_odd(n - 1)


def is_odd(n):
    if n == 0:
        return False
    return is_even(n - 1)


@eas.kernel
def parity(out, n):
    mk.store(out, 0, is_even(n))


CASE = Broken(parity, "*bool", "i32")
