"""`in` looks through tuples only."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def contains(a, out, BLOCK: eas.constexpr):
    x = mk.load(a, mk.arange(0, BLOCK))
    mk.store(out, 0, 1.0 in x)


CASE = Broken(contains, "*f32", "*bool", BLOCK=64)
