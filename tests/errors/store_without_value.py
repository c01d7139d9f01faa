"""The value to store is forgotten."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def fill(y, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    mk.store(y, i)
    mk.store(y)


CASE = Broken(fill, "*f32", BLOCK=64)
