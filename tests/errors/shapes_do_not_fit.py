"""Blocks whose shapes do not fit together."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def add(a, b, out):
    x = mk.load(a, mk.arange(0, 64))
    y = mk.load(b, mk.arange(0, 32))
    mk.store(out, mk.arange(0, 64), x + y)


CASE = Broken(add, "*f32", "*f32", "*f32")
