"""A float is stored in an array of ints."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def mean(a, out, n):
    total = 0
    for i in range(n):
        total += mk.load(a, i)
    mk.store(out, 0, total / n)
    mk.atomic_add(out, 1, 0.5)


CASE = Broken(mean, "*i32", "*i32", "i32")
