"""Too many, too few and unknown arguments of functions of `mk`."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def apply(a, out, BLOCK: eas.constexpr):
    offs = mk.arange(BLOCK)
    x = mk.load(a, mk.arange(0, BLOCK), maks=mk.arange(0, BLOCK) < 4)
    mk.store(out)
    mk.store(out, 0, mk.sum(mk.load(a, mk.arange(0, BLOCK)), 0, True, 1))


CASE = Broken(apply, "*f32", "*f32", BLOCK=64)
