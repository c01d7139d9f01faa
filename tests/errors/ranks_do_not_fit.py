"""Blocks of different rank."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def outer(a, b, out):
    x = mk.load(a, mk.arange(0, 8))
    tile = mk.zeros((4, 8))
    mk.store(out, mk.arange(0, 8), mk.where(x > 0.0, tile, x))


CASE = Broken(outer, "*f32", "*f32", "*f32")
