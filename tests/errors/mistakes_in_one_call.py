"""Several arguments of one call are wrong."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def copy(a, out, n):
    mk.store(outt, offs, mk.load(aa, 0) + mk.lod(a, 1), mask=n < limit)


CASE = Broken(copy, "*f32", "*f32", "i32")
