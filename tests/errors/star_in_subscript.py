"""A star where none is possible."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def first(a, out):
    place = (0, 1)
    mk.store(out, 0, a[*place])


CASE = Broken(first, "*f32[:, :]", "*f32")
