"""Constants that Python cannot compute with."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def split(out, n, PARTS: eas.constexpr):
    mk.store(out, 0, n // (1 // PARTS))
    mk.store(out, 1, 1 / 0)
    mk.store(out, 2, "1" + 1)
    mk.store(out, 3, mk.cdiv(4, 0))


CASE = Broken(split, "*i32", "i32", PARTS=0)
