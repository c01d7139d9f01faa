"""A field of a named tuple cannot be assigned to."""

from typing import NamedTuple

import eas
from eas import mk
from tests.errors.case import Broken


class Point(NamedTuple):
    x: float
    y: float


@eas.kernel
def move(a):
    p = Point(mk.load(a, 0), mk.load(a, 1))
    p.x = 0.0
    p.y += 1.0
    mk.store(a, 0, p.x)


CASE = Broken(move, "*f32")
