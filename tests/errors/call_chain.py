"""A mistake below three calls."""

import eas
from eas import mk
from tests.errors.case import Broken


def third(x):
    return x + undefined


def second(x):
    return third(x) * 2.0


def first(x):
    return second(x + 1.0)


@eas.kernel
def apply(a):
    mk.store(a, 0, first(mk.load(a, 0)))


CASE = Broken(apply, "*f32")
