"""`global` in a kernel."""

import eas
from eas import mk
from tests.errors.case import Broken


total = 0


@eas.kernel
def count(a):
    global total
    total = total + 1
    mk.store(a, 0, total)


CASE = Broken(count, "*i32")
