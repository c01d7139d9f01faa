"""The bodies of an `if` are looked at when its condition is wrong."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def pick(a, out, n):
    if n > treshold:
        x = mk.sqroot(mk.load(a, 0))
    elif n is a:
        x = 1.0
    else:
        x = mk.load(b, 0)
    mk.store(out, 0, x)


CASE = Broken(pick, "*f32", "*f32", "i32")
