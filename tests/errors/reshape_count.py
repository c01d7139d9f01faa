"""A reshape to another number of lanes."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def fold(a, out):
    x = mk.load(a, mk.arange(0, 64))
    tile = mk.reshape(x, (8, 9))
    mk.store(out, 0, mk.sum(tile))


CASE = Broken(fold, "*f32", "*f32")
