"""A function of `math` on a value that is known at run time only."""

import math

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def waves(a):
    x = mk.load(a, 0)
    mk.store(a, 0, math.sin(x) * math.sqrt(2.0))
    mk.store(a, 1, isinstance(x, float))


CASE = Broken(waves, "*f32")
