"""An index outside of a tuple."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def pick(out, WEIGHTS: eas.constexpr):
    pair = (1.0, 2.0)
    mk.store(out, 0, pair[2])
    mk.store(out, 1, WEIGHTS["high"])


CASE = Broken(pick, "*f32", WEIGHTS="low")
