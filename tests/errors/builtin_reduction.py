"""Python's `sum` and `any` of a block."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def total(a, out, BLOCK: eas.constexpr):
    x = mk.load(a, mk.arange(0, BLOCK))
    mk.store(out, 0, sum(x))
    mk.store(out, 1, any(x > 0.0))
    mk.store(out, 2, max(x))


CASE = Broken(total, "*f32", "*f32", BLOCK=64)
