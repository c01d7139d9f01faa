"""An object with a method that kernels cannot call."""

import eas
from eas import mk
from tests.errors.case import Broken


class Scale:
    def __call__(self, x):
        return 2.0 * x


double = Scale()


@eas.kernel
def apply(a):
    mk.store(a, 0, double(mk.load(a, 0)))
    mk.store(a, 1, input())


CASE = Broken(apply, "*f32")
