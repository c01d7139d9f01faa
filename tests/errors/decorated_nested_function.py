"""A function inside of a kernel with a decorator."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def apply(a):
    @eas.function
    def twice(x):
        return x * 2.0

    mk.store(a, 0, twice(mk.load(a, 0)))


CASE = Broken(apply, "*f32")
