"""The shape of an array whose rank is not known."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def last(a, out):
    mk.store(out, 0, mk.load(a, a.shape[0] - 1))


CASE = Broken(last, "*f32", "*f32")
