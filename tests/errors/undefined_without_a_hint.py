"""A name that looks like no other."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def fill(a):
    mk.store(a, 0, quux)


CASE = Broken(fill, "*f32")
