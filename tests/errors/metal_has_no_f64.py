"""A type that Metal does not have."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def scale(a, factor):
    i = mk.program_id(0)
    mk.store(a, i, mk.load(a, i) * factor)


CASE = Broken(scale, "*f64", "f64")
