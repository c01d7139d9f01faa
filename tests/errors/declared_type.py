"""An annotation that the value contradicts."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def declare(a, out):
    count: mk.i32 = 0.5
    x: mk.f16 = mk.load(a, 0)
    mk.store(out, 0, x)


CASE = Broken(declare, "*f32", "*f16")
