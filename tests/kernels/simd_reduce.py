"""The sum of an array by a thread program: simdgroups first, then the first one adds their sums."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, integers


@eas.kernel
def simd_reduce(x, out, N, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    i = mk.program_id(0) * THREADS + t
    shared = mk.alloc_tg(THREADS // 32, mk.i32)
    total = mk.simd_sum(mk.load(x, i, i < N))
    if mk.lane_id() == 0:
        mk.store(shared, mk.sg_id(), total)
    mk.barrier()
    share = mk.load(shared, t, t < THREADS // 32)
    total = mk.simd_sum(share)
    if t == 0:
        mk.atomic_add(out, 0, total)


def arguments() -> Arguments:
    return {
        "x": integers(700, low=-50, high=50), "out": np.zeros(1, "i4"), "N": 700, "THREADS": 128,
    }  # fmt: skip


def reference(x: Array, **_: object) -> dict[str, Array]:
    return {"out": np.array([x.sum()], "i4")}


CASE = Case(simd_reduce, arguments, reference, grid=(6,))
