"""`import` in a kernel, both forms."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def area(r, out):
    import math
    from math import tau as full_turn

    mk.store(out, 0, r * r * math.pi)
    mk.store(out, 1, r * full_turn)


CASE = Broken(area, "f32", "*f32")
