"""Blocks of different rank."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def outer(a, b, out):
    x = mk.load(a, mk.arange(0, 4))
    tile = mk.zeros((4, 8))
    y = mk.where(x > 0.0, tile, x)
    mk.store(out, mk.arange(0, 8), tile)
    places = mk.reshape(mk.arange(0, 32), (4, 8))
    if mk.arange(0, 8) > 2:
        mk.store(out, places, tile)


CASE = Broken(outer, "*f32", "*f32", "*f32")
