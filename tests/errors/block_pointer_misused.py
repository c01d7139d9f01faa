"""Block pointers with offsets, with too few numbers, with an unknown padding; and none at all."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def tiles(a, out, N):
    p = mk.make_block_ptr(a, (N, N), (N, 1), (0, 0), (8, 8))
    mk.store(out, 0, mk.sum(mk.load(p, mk.arange(0, 8))))
    q = mk.make_block_ptr(a, (N,), (N, 1), (0, 0), (8, 8))
    mk.store(out, 1, mk.sum(mk.load(p, boundary_check=(0,), padding="one")))
    r = mk.advance(a, (0, 8))


CASE = Broken(tiles, "*f32", "*f32", "i32")
