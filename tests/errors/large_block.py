"""Blocks, arrays and loops that are too large, and a function that combines elements to a block."""

import eas
from eas import mk
from tests.errors.case import Broken


def spread(x, y):
    return x + y + mk.arange(0, 4)


@eas.kernel
def large(out):
    i = mk.arange(0, 5000)
    square = i[:, None] * i[None, :]
    shared = mk.alloc_tg((8192, 8192), mk.f32)
    for k in mk.static_range(10**30):
        mk.store(out, k, 0)
    mk.store(out, 0, mk.reduce(i, 0, spread))


CASE = Broken(large, "*i32")
