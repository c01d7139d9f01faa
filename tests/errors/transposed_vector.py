"""`mk.trans` of a block with one axis."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def flip(a, out):
    x = mk.load(a, mk.arange(0, 8))
    mk.store(out, mk.arange(0, 8), mk.trans(x))


CASE = Broken(flip, "*f32", "*f32")
