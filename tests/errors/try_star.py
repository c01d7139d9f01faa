"""`except*` is a `try` too."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def divide(a, b, out):
    try:
        mk.store(out, 0, mk.load(a, 0) / mk.load(b, 0))
    except* ZeroDivisionError:
        mk.store(out, 0, 0.0)


CASE = Broken(divide, "*f32", "*f32", "*f32")
