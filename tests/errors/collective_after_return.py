"""A barrier behind a `return` that some threads take."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def stage(a, n, BLOCK: eas.constexpr):
    t = mk.tid(0, BLOCK)
    tile = mk.alloc_tg((BLOCK,), mk.f32)
    if t >= n:
        return
    tile[t] = mk.load(a, t)
    mk.barrier()
    mk.store(a, t, tile[BLOCK - 1 - t])


CASE = Broken(stage, "*f32", "i32", BLOCK=64)
