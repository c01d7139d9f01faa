"""f16 and bf16 have no common type."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def mix(a, b, out, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    x, y = mk.load(a, i), mk.load(b, i)
    mk.store(out, i, mk.maximum(x, y))


CASE = Broken(mix, "*f16", "*bf16", "*f32", BLOCK=64)
