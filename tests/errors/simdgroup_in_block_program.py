"""Operations of simdgroups in a kernel that is written for blocks, and by only some threads."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def sums(a, out):
    x = mk.load(a, mk.arange(0, 64))
    mk.store(out, mk.arange(0, 64), mk.simd_sum(x))


CASE = Broken(sums, "*f32", "*f32")
