"""A kernel in a function, whose mistake is in a captured function."""

import eas
from eas import mk
from tests.errors.case import Broken


def make(scale):
    def scaled(x):
        return x * scale + offst

    @eas.kernel
    def apply(a):
        mk.store(a, 0, scaled(mk.load(a, 0)))

    return apply


apply = make(2.0)


CASE = Broken(apply, "*f32")
