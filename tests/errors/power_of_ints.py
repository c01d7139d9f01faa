"""An int to a power that is not a constant."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def power(out, n):
    mk.store(out, 0, 2**n)
    mk.store(out, 1, n**-1)


CASE = Broken(power, "*i32", "i32")
