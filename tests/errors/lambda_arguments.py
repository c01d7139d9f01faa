"""Wrong arguments of a lambda and of a nested function."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def apply(a):
    add = lambda x, y: x + y  # noqa: E731

    def negate(x):
        return -x

    mk.store(a, 0, add(mk.load(a, 0)))
    mk.store(a, 1, negate(1.0, 2.0))
    mk.store(a, 2, negate(y=1.0))


CASE = Broken(apply, "*f32")
