"""An error in a loop that is unrolled is reported once."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def fill(a):
    values = (1.0, 2.0)
    for i in mk.static_range(8):
        mk.store(a, i, values[i] + misspelt)


CASE = Broken(fill, "*f32")
