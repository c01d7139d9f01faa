"""A helper whose branches return different types."""

import eas
from eas import mk
from tests.errors.case import Broken


def clip(x, high):
    if x > high:
        return 1
    return x / high


@eas.kernel
def scale(a, out):
    mk.store(out, 0, clip(mk.load(a, 0), 2.0))


CASE = Broken(scale, "*f32", "*f32")
