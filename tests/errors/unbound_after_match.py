"""A `match` without a case for everything."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def weight(kind, out):
    match kind:
        case 0:
            w = 1.0
        case 1 | 2:
            w = 0.5
    mk.store(out, 0, w)


CASE = Broken(weight, "i32", "*f32")
