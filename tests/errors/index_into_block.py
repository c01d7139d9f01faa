"""One lane of a block."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def pick(a, out, i, BLOCK: eas.constexpr):
    x = mk.load(a, mk.arange(0, BLOCK))
    mk.store(out, 0, x[i])
    mk.store(out, 1, x[-1])


CASE = Broken(pick, "*f32", "*f32", "i32", BLOCK=64)
