"""An array is neither true nor false."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def check(a, out):
    if a:
        mk.store(out, 0, 1.0)


CASE = Broken(check, "*f32", "*f32")
