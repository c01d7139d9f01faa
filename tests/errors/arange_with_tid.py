"""`arange` and `tid` in one kernel."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def copy(a, out, BLOCK: eas.constexpr):
    t = mk.tid(0, BLOCK)
    x = mk.load(a, mk.arange(0, BLOCK))
    mk.store(out, t, x)


CASE = Broken(copy, "*f32", "*f32", BLOCK=64)
