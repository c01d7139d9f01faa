"""An array that was left out, in each place where one is needed."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def shift(x, bias=None):
    i = mk.arange(0, 4)
    mk.store(x, i, mk.load(bias, i))
    x[0] = bias[0]
    bias[i] = 1.0


CASE = Broken(shift, "*f32[:]")
