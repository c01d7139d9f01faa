"""A sequence pattern, with a star in it."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def ends(out, x, y):
    pair = (x, y)
    match pair:
        case [first, *rest]:
            mk.store(out, 0, first)


CASE = Broken(ends, "*i32", "i32", "i32")
