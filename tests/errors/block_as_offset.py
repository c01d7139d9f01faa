"""A block as the offset of a block pointer, which takes one int for each axis."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def tile(x, y, BLOCK: eas.constexpr):
    i = mk.arange(0, BLOCK)
    a = mk.make_block_ptr(x, (64, 64), (64, 1), (i, 0), (BLOCK, BLOCK))
    b = mk.make_block_ptr(x, (64, 64), (64, 1), (0, 0), (BLOCK, BLOCK))
    b = mk.advance(b, (0, i))
    c = mk.make_block_ptr(x, (64, 64), (64, 1), (0.5, 0), (BLOCK, BLOCK))


CASE = Broken(tile, "*f32", "*f32", BLOCK=16)
