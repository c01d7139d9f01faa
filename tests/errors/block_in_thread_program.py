"""Blocks in a kernel for threads, before and after it is known to be one."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def total(a, out):
    sums = mk.zeros((8,))
    t = mk.tid(0, 64)
    x = mk.load(a, t)
    mk.store(out, t, mk.max(x, keep_dims=True))
    y = x[:, None]
    z = mk.join(x, x)


CASE = Broken(total, "*f32", "*f32")
