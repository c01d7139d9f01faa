"""`nonlocal` in a function inside of a kernel."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def count(a):
    total = 0

    def step():
        nonlocal total
        total = total + 1

    step()
    mk.store(a, 0, total)


CASE = Broken(count, "*i32")
