"""An int and a bool after a pointer: a value and a mask, or an offset and a value?"""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def mark(flags, locks, n):
    i = mk.program_id(0)
    mk.store(flags + i, 1, i < n)
    mk.atomic_add(flags + i, n, i < n)
    mk.atomic_cas(locks + i, 0, 1, i < n)
    mk.atomic_add(flags, n)
    mk.load(flags + i, None, i < n)


CASE = Broken(mark, "*i32", "*i32", "i32")
