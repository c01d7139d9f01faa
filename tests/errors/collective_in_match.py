"""A sum in a case that only some lanes take."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def pick(a, out, BLOCK: eas.constexpr):
    kind = mk.load(a, mk.arange(0, BLOCK))
    match kind:
        case 0:
            mk.store(out, 0, mk.sum(kind))
        case _:
            mk.store(out, 1, mk.min(kind))


CASE = Broken(pick, "*i32", "*i32", BLOCK=64)
