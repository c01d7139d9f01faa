"""Blocks where one is needed, and numbers where a block is."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def shaped(a, out, n):
    x = mk.load(a, mk.arange(0, 8))
    y = mk.cumsum((x, x))
    z = mk.flip(n)
    w = mk.split(x)


CASE = Broken(shaped, "*f32", "*f32", "i32")
