"""A name that changes its kind in a loop."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def grow(out, n):
    items = ()
    for i in range(n):
        items = (*items, i)
    mk.store(out, 0, len(items))


CASE = Broken(grow, "*i32", "i32")
