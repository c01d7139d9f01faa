"""Threadgroup memory that is allocated in a loop."""

import eas
from eas import mk
from tests.errors.case import Broken


@eas.kernel
def stage(a, n, BLOCK: eas.constexpr):
    t = mk.tid(0, BLOCK)
    for i in range(n):
        tile = mk.alloc_tg((BLOCK,), mk.f32)
        tile[t] = mk.load(a, t)


CASE = Broken(stage, "*f32", "i32", BLOCK=64)
