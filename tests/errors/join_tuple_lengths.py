"""Tuples of different length."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def corner(a, out, n):
    if n > 2:
        place = (1, 2, 3)
    else:
        place = (1, 2)
    mk.store(out, 0, place[0])


CASE = Broken(corner, "*f32", "*i32", "i32")
