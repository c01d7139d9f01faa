"""A block has few attributes."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def total(a, out, BLOCK: eas.constexpr):
    x = mk.load(a, mk.arange(0, BLOCK))
    mk.store(out, 0, x.sum())
    mk.store(out, 1, x.shpe[0])


CASE = Broken(total, "*f32", "*f32", BLOCK=64)
