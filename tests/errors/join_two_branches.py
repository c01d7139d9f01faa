"""Each branch gives the name a type of its own."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def scale(a, out, n):
    if n > 4:
        factor = n
    else:
        factor = 0.5
    mk.store(out, 0, mk.load(a, 0) * factor)


CASE = Broken(scale, "*f32", "*f32", "i32")
