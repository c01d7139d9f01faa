"""A sum over a simdgroup that only some of its threads reach."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def sums(a, out):
    t = mk.tid(0, 64)
    x = mk.load(a, t)
    if x > 0.0:
        mk.store(out, t, mk.simd_sum(x))


CASE = Broken(sums, "*f32", "*f32")
