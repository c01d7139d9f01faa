"""A function of Python that raises an error."""

import math

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def count(out):
    mk.store(out, 0, math.factorial(-1))
    mk.store(out, 1, float("seven"))


CASE = Broken(count, "*f32")
