"""Tuples are not ordered."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def before(a, out):
    p = (mk.load(a, 0), mk.load(a, 1))
    q = (mk.load(a, 2), mk.load(a, 3))
    mk.store(out, 0, p < q)


CASE = Broken(before, "*f32", "*bool")
