"""Shapes that no block can have."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def make(out):
    mk.store(out, 0, mk.sum(mk.zeros((4, 0))))
    mk.store(out, 1, mk.sum(mk.zeros((2, 2, 2, 2, 2))))


CASE = Broken(make, "*f32")
