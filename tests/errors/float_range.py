"""A range with a float for a bound."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def steps(out, x):
    for i in range(0, 1.5):
        mk.store(out, 0, i)
    for i in range(x):
        mk.store(out, 0, i)


CASE = Broken(steps, "*i32", "f32")
