"""A scalar has no elements."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def first(a, out):
    x = mk.load(a, 0)
    mk.store(out, 0, x[0])


CASE = Broken(first, "*f32", "*f32")
