"""`len` of an array, and of a number."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def extent(a, out):
    mk.store(out, 0, len(a))
    mk.store(out, 1, len(mk.load(out, 0)))


CASE = Broken(extent, "*f32[:]", "*i32")
