"""A conditional expression of two types."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def pick(a, out, n):
    x = n if n > 2 else mk.load(a, 0)
    mk.store(out, 0, x)


CASE = Broken(pick, "*f32", "*f32", "i32")
