"""Things that have no elements."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def pick(out, n):
    numbers = range(n)
    mk.store(out, 0, numbers[1])
    double = lambda x: 2 * x  # noqa: E731
    mk.store(out, 1, double[0])


CASE = Broken(pick, "*i32", "i32")
