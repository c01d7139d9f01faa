"""`**` in a call and in a function."""

import eas
from eas import mk
from tests.errors.case import Broken


OPTIONS = {"scale": 2.0}


def scaled(x, scale=1.0):
    return x * scale


def anything(x, **options):
    return x


@eas.kernel
def apply(a):
    x = mk.load(a, 0)
    mk.store(a, 0, scaled(x, **OPTIONS))
    mk.store(a, 1, anything(x, scale=2.0))


CASE = Broken(apply, "*f32")
