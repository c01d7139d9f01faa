"""An array has few attributes."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def extent(a, out):
    mk.store(out, 0, a.size)
    mk.store(out, 1, a.stride[0])


CASE = Broken(extent, "*f32[:]", "*i32")
