"""A helper whose source cannot be had."""

import eas
from eas import mk
from tests.errors.case import Broken


names = {}
exec("def double(x):\n    return 2.0 * x", names)
double = names["double"]


@eas.kernel
def apply(a):
    mk.store(a, 0, double(mk.load(a, 0)))


CASE = Broken(apply, "*f32")
