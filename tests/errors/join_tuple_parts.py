"""Tuples of one length, whose second parts differ in type."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def corner(out, n):
    place = (0, 0)
    if n > 2:
        place = (1, 0.5)
    mk.store(out, 0, place[0])


CASE = Broken(corner, "*i32", "i32")
