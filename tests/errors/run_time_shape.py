"""A shape that is known at run time only."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def fill(a, n):
    offs = mk.arange(0, n)
    mk.store(a, offs, mk.zeros((n,)))


CASE = Broken(fill, "*f32", "i32")
