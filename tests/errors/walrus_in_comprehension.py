"""`:=` inside of a comprehension would bind a name outside of it."""

import eas
from tests.errors.case import Broken


@eas.kernel
def largest(a, out):
    loaded = [(last := a[i]) for i in range(4)]
    out[0] = max(loaded) + last


CASE = Broken(largest, "*f32[:]", "*f32[:]")
