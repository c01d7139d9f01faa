"""A comprehension over a range of unknown length, and with an unknown condition."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def squares(out, n):
    many = [i * i for i in range(n)]
    few = [i for i in range(4) if i < n]
    mk.store(out, 0, sum(many) + sum(few))


CASE = Broken(squares, "*i32", "i32")
