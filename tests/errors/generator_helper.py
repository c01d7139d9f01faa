"""A helper that is a generator."""

import eas
from eas import mk
from tests.errors.case import Broken


def squares(n):
    for i in range(n):
        yield i * i


@eas.kernel
def fill(a, n):
    for s in squares(n):
        mk.store(a, 0, s)


CASE = Broken(fill, "*i32", "i32")
