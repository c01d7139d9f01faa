"""An array where a number is needed."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def scale(a, out, factor):
    i = mk.program_id(0)
    mk.store(out, i, mk.sqrt(a) * factor)
    mk.store(out, i, out)


CASE = Broken(scale, "*f32", "*f32", "f32")
