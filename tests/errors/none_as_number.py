"""The result of a function that returns nothing."""

import eas
from eas import mk
from tests.errors.case import Broken


def square(x):
    x * x


@eas.kernel
def apply(a):
    mk.store(a, 0, square(mk.load(a, 0)) + 1.0)


CASE = Broken(apply, "*f32")
