"""A sum behind a `break` that some lanes take."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def search(a, out, BLOCK: eas.constexpr):
    x = mk.load(a, mk.arange(0, BLOCK))
    for i in range(10):
        if x > i:
            break
        mk.store(out, i, mk.sum(x))


CASE = Broken(search, "*f32", "*f32", BLOCK=64)
