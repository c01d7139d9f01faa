"""A number is called."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def apply(a):
    x = mk.load(a, 0)
    mk.store(a, 0, x(1))


CASE = Broken(apply, "*f32")
