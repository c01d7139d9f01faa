"""A mask with another number of lanes than the offsets."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def copy(a, out, n):
    offs = mk.arange(0, 64)
    mask = mk.arange(0, 32) < n
    mk.store(out, offs, mk.load(a, offs), mask=mask)


CASE = Broken(copy, "*f32", "*f32", "i32")
