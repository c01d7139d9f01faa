"""A mistake in a function inside of the kernel."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def apply(a, n):
    def power(x, k):
        result = 1
        for _ in range(k):
            result = result * x
        return result

    mk.store(a, 0, power(mk.load(a, 0), n))


CASE = Broken(apply, "*f32", "i32")
