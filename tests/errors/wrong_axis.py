"""Axes that are not there."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def sums(a, out):
    row = mk.program_id(3)
    tile = mk.zeros((4, 8))
    mk.store(out, 0, mk.sum(mk.sum(tile, axis=2)))
    mk.store(out, 1, mk.sum(mk.expand_dims(tile, 5)))


CASE = Broken(sums, "*f32", "*f32")
