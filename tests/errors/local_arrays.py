"""Arrays of a lane that would have two names, and other mistakes with them."""

import eas
from eas import mk
from tests.errors.case import Broken


def same(array):
    return array


def both(a, b):
    a[0] = b[0]


@eas.kernel
def sums(x, y, n):
    total = mk.local(4, mk.f32)
    other = total
    pair = (total, 1)
    again = same(total)
    both(total, total)

    def add(v):
        total[0] = v

    add(1.0)
    total[4] = 1.0
    total[0.5] = 1.0
    mk.store(y, 0, total)
    for v in total:
        y[1] = v
    few = mk.local(0)
    many = mk.local(n)
    counts = mk.local(2, mk.i32)
    counts[0] = 0.5


CASE = Broken(sums, "*f32", "*f32", "i32")
