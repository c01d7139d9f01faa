"""A name that begins as an int and becomes a float in a loop."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def mean(a, out, n):
    total = 0
    for i in range(n):
        total += mk.load(a, i)
    mk.store(out, 0, total / n)


CASE = Broken(mean, "*f32", "*f32", "i32")
