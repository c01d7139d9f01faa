"""Functions that stand where their result is meant."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def copy(x, y, BLOCK: eas.constexpr):
    i = mk.program_id * BLOCK + mk.arange(0, BLOCK)
    n = mk.num_programs - 1
    y[i] = x[i] * mk.exp


CASE = Broken(copy, "*f32", "*f32", BLOCK=64)
