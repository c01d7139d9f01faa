"""A constant index outside of threadgroup memory."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def stage(a, BLOCK: eas.constexpr):
    t = mk.tid(0, BLOCK)
    tile = mk.alloc_tg((4, 8), mk.f32)
    tile[4, 0] = 1.0
    mk.barrier()
    mk.store(a, t, tile[0, -9])


CASE = Broken(stage, "*f32", BLOCK=64)
