"""`mk.load` without an array."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def copy(a, n, out):
    mk.store(out, 0, mk.load(n, 0))
    mk.store(mk.load(a, 0), 0, 1.0)


CASE = Broken(copy, "*f32", "i32", "*f32")
