"""Too many, too few and unknown arguments of a helper."""

import eas
from eas import mk
from tests.errors.case import Broken


def scaled(x, factor, *, offset=0.0):
    return x * factor + offset


@eas.kernel
def apply(a):
    x = mk.load(a, 0)
    mk.store(a, 0, scaled(x))
    mk.store(a, 1, scaled(x, 2.0, 1.0))
    mk.store(a, 2, scaled(x, 2.0, ofset=1.0))
    mk.store(a, 3, scaled(x, 2.0, factor=3.0))


CASE = Broken(apply, "*f32")
