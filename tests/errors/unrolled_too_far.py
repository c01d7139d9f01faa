"""A loop that is too long to be unrolled."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def fill(a):
    for i in mk.static_range(100000):
        mk.store(a, i, undefined_in_body)


CASE = Broken(fill, "*f32")
