"""An array that is not the first argument of an access."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def copy(x, y, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    v = mk.load(i, x)
    w = mk.load(x, i)
    mk.store(w, y + i)
    mk.store(w, i, y)


CASE = Broken(copy, "*f32", "*f32", BLOCK=64)
