"""A star that brings too many arguments."""

import eas
from eas import mk
from tests.errors.case import Broken


def scaled(x, factor):
    return x * factor


@eas.kernel
def apply(a):
    parts = (mk.load(a, 0), 2.0, 3.0)
    mk.store(a, 0, scaled(*parts))
    mk.store(a, 1, scaled(*a))


CASE = Broken(apply, "*f32")
