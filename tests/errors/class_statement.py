"""A class that is defined in a kernel."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def length(a, out):
    class Point:
        def __init__(self, x, y):
            self.x = x
            self.y = y

    p = Point(mk.load(a, 0), mk.load(a, 1))
    mk.store(out, 0, mk.sqrt(p.x * p.x + p.y * p.y))


CASE = Broken(length, "*f32", "*f32")
