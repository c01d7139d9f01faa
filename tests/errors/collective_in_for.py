"""A sum in a loop whose bound differs from lane to lane."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def count(a, out, BLOCK: eas.constexpr):
    n = mk.load(a, mk.arange(0, BLOCK))
    s = 0
    for i in range(n):
        s += mk.sum(n)
    mk.store(out, mk.arange(0, BLOCK), s)


CASE = Broken(count, "*i32", "*i32", BLOCK=64)
