"""What a refused `try` assigns is not a second error."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def divide(a, b, out):
    try:
        q = mk.load(a, 0) // mk.load(b, 0)
    except ZeroDivisionError:
        pass
    mk.store(out, 0, q)


CASE = Broken(divide, "*i32", "*i32", "*i32")
