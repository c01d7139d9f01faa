"""A lane of a block cannot be assigned to."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def change(a, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    x = mk.load(a, i)
    x[0] = 1.0
    mk.store(a, i, x)


CASE = Broken(change, "*f32", BLOCK=64)
