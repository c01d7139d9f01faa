"""What rests on a mistake is not reported again."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def chain(a, out):
    x = mk.load(a, 0) + offset
    y = x * 2.0
    z = y if y > 0.0 else x
    for i in range(4):
        z = z + y
    mk.store(out, 0, z)


CASE = Broken(chain, "*f32", "*f32")
