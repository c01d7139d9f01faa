"""Lists that are changed, and methods that NumPy's arrays have."""

import eas
from tests.errors.case import Broken


@eas.kernel
def collect(a, out):
    items = []
    for i in range(4):
        items.append(a[i])
    for i in 4:
        out[i] = 0.0
    out[0] = a.sum()


CASE = Broken(collect, "*f32[:]", "*f32[:]")
