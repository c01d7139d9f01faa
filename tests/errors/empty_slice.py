"""A slice of a block without any lane."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def tail(a, out, BLOCK: eas.constexpr):
    x = mk.load(a, mk.arange(0, BLOCK))
    mk.store(out, 0, mk.sum(x[64:]))


CASE = Broken(tail, "*f32", "*f32", BLOCK=64)
