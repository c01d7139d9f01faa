"""A function that calls itself."""

import eas
from eas import mk
from tests.errors.case import Broken


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


@eas.kernel
def fill(out, n):
    mk.store(out, 0, factorial(n))


CASE = Broken(fill, "*i32", "i32")
