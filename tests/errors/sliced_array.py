"""A slice of an array."""

import eas
from tests.errors.case import Broken


@eas.kernel
def row(a, out, i):
    x = a[i, 0:16]
    out[1:] = 0.0


CASE = Broken(row, "*f32[:, :]", "*f32[:]", "i32")
