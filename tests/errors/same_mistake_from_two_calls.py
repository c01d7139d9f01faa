"""A mistake in a helper is reported once, however often it is called."""

import eas
from eas import mk
from tests.errors.case import Broken


def scaled(x):
    return x * factr


@eas.kernel
def apply(a, factor):
    mk.store(a, 0, scaled(mk.load(a, 0)))
    mk.store(a, 1, scaled(mk.load(a, 1)))
    for i in mk.static_range(4):
        mk.store(a, 2 + i, scaled(1.0))


CASE = Broken(apply, "*f32", "f32")
