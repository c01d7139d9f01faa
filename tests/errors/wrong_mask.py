"""Masks that are none, masks in the place of offsets, checks of bounds without a block pointer."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def copy(a, out, n):
    offs = mk.arange(0, 64)
    x = mk.load(a, offs, 0.0)
    mk.store(out, offs, 1, "all")
    mk.store(out, offs, 1, offs < n, 3)
    y = mk.load(a + offs, 1.5)
    mk.store(out + offs, 1.0, n * 1.0)
    mk.store(out, mk.load(a, offs), offs < n)


CASE = Broken(copy, "*f32", "*f32", "i32")
