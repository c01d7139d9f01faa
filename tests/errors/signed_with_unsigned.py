"""A signed and an unsigned int of one width."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def mix(a, b, out):
    i = mk.program_id(0)
    mk.store(out, i, mk.load(a, i) + mk.load(b, i))


CASE = Broken(mix, "*i32", "*u32", "*i32")
