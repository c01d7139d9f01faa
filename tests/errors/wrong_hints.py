"""Hints that are none, and a mask in both forms of a call."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def hinted(a):
    i = mk.arange(0, 8)
    x = mk.load(a, i, cache_modifier=".cv")
    mk.store(a, i, 1.0, eviction_policy="never")
    p = mk.make_block_ptr(a, (4, 4), (4, 1), (0, 0), (2, 2), order=(1, 1))
    square = mk.zeros((8, 8))
    product = mk.dot(square, square, input_precision="bf16")
    y = mk.load(a + i, i < 2, mask=i < 3)
    mk.store(a + i, 1.0, i < 2, mask=i < 3)
    tile = mk.make_block_ptr(a, (4, 4), (4, 1), (0, 0), (2, 2))
    z = mk.load(tile, other=1.0)
    mk.store(a, i, mk.sum(mk.flip(square), axis=0))


CASE = Broken(hinted, "*f32")
