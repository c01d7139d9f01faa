"""Wrong arguments of a named tuple."""

from typing import NamedTuple

import eas
from eas import mk
from tests.errors.case import Broken


class Point(NamedTuple):
    x: float
    y: float


@eas.kernel
def make(a):
    p = Point(mk.load(a, 0))
    q = Point(0.0, 1.0, z=2.0)
    mk.store(a, 0, p.x + q.y)


CASE = Broken(make, "*f32")
