"""A field that a named tuple does not have."""

from typing import NamedTuple

import eas
from eas import mk
from tests.errors.case import Broken


class Point(NamedTuple):
    x: float
    y: float


@eas.kernel
def length(a, out):
    p = Point(mk.load(a, 0), mk.load(a, 1))
    mk.store(out, 0, p.x * p.x + p.z * p.z)


CASE = Broken(length, "*f32", "*f32")
