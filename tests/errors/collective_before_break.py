"""A sum in a loop that some lanes leave further down."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def search(a, out, BLOCK: eas.constexpr):
    x = mk.load(a, mk.arange(0, BLOCK))
    for i in range(10):
        mk.store(out, i, mk.sum(x))
        if x > i:
            break


CASE = Broken(search, "*f32", "*f32", BLOCK=64)
