"""An index and an offset that are floats."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def half(a, out, n):
    mk.store(out, 0, a[n / 2])
    mk.store(out, 1, mk.load(out, n * 0.5))
    mk.store(out + 0.5, 1.0)


CASE = Broken(half, "*f32[:]", "*f32", "i32")
