"""A literal that its type cannot hold."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def saturate(a):
    i = mk.program_id(0)
    x = mk.load(a, i)
    mk.store(a, i, x + 256)
    mk.store(a, i, -1)


CASE = Broken(saturate, "*u8")
