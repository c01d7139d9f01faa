"""Too few and too many indices."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def corner(a, b, i):
    b[0] = a[i]
    b[0, 1] = 1.0
    x = mk.arange(0, 8)
    b[1] = mk.sum(x[:, :])


CASE = Broken(corner, "*f32[:, :]", "*f32[:]", "i32")
