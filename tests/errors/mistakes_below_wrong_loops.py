"""The bodies of loops and cases are looked at when their heads are wrong."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def loops(a, out, n):
    while missing > 0:
        n = n - wrong_in_while
        if n < 0:
            break
    for i in rang(n):
        mk.store(out, i, wrong_in_for)
    else:
        mk.store(out, 0, wrong_in_else)
    match nothing:
        case 0:
            mk.store(out, 0, wrong_in_case)
        case _:
            return
    mk.store(out, 0, wrong_after)


CASE = Broken(loops, "*f32", "*f32", "i32")
