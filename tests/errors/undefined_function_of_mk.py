"""A function that `mk` does not have."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def total(a, out, BLOCK: eas.constexpr):
    x = mk.load(a, mk.arange(0, BLOCK))
    mk.store(out, 0, mk.summ(x))


CASE = Broken(total, "*f32", "*f32", BLOCK=64)
