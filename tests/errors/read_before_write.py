"""Threadgroup memory that nothing was written to."""

import numpy as np

import eas
from eas import mk
from tests.errors.case import Faulty


@eas.kernel
def stage(a, out, BLOCK: eas.constexpr):
    t = mk.tid(0, BLOCK)
    tile = mk.alloc_tg((BLOCK,), mk.f32)
    if t < BLOCK // 2:
        tile[t] = mk.load(a, t)
    mk.barrier()
    mk.store(out, t, tile[BLOCK - 1 - t])


def arguments():
    return {"a": np.ones(32, "f4"), "out": np.zeros(32, "f4"), "BLOCK": 32}


CASE = Faulty(stage, arguments)
