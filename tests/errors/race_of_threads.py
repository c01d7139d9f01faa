"""A thread reads what another one has written, without a barrier between them."""

import numpy as np

import eas
from eas import mk
from tests.errors.case import Faulty


@eas.kernel
def reverse(a, out, BLOCK: eas.constexpr):
    t = mk.tid(0, BLOCK)
    shared = mk.alloc_tg(BLOCK, mk.f32)
    shared[t] = a[t]
    out[t] = shared[BLOCK - 1 - t]


def arguments():
    return {"a": np.arange(8, dtype="f4"), "out": np.zeros(8, "f4"), "BLOCK": 8}


CASE = Faulty(reverse, arguments)
