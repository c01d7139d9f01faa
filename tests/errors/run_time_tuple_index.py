"""An index into a tuple that is known at run time only."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def pick(out, i):
    weights = (0.25, 0.5, 0.25)
    mk.store(out, 0, weights[i])


CASE = Broken(pick, "*f32", "i32")
