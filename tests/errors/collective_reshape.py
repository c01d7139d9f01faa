"""Shape operations need all lanes too."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def tile(a, out, BLOCK: eas.constexpr):
    x = mk.load(a, mk.arange(0, BLOCK))
    if x > 0.0:
        y = mk.reshape(x, (8, 8))
        z = x[0:8]


CASE = Broken(tile, "*f32", "*f32", BLOCK=64)
