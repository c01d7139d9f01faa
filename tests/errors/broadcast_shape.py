"""A broadcast to a shape that does not fit."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def spread(a, out):
    x = mk.load(a, mk.arange(0, 8))
    mk.store(out, 0, mk.sum(mk.broadcast_to(x, (8, 4))))


CASE = Broken(spread, "*f32", "*f32")
