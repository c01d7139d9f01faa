"""Names, keywords and dtypes that are nearly right."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def squash(x, y, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    a = mk.exq(x[i])
    b = mk.clamp(x[i], low=0.0, hi=1.0)
    c = x[i].to("flaot32")
    d = mk.mean(x[i]) + mk.relu(x[i]) + mk.hypot(x[i], x[i]) + mk.lerp(x[i], x[i], 0.5)


CASE = Broken(squash, "*f32", "*f32", BLOCK=64)
