"""A function of Python that raises an error."""

import math

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def root(out):
    mk.store(out, 0, math.sqrt(-1.0))
    mk.store(out, 1, float("seven"))


CASE = Broken(root, "*f32")
