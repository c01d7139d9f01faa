"""Running sums within each threadgroup, doubling the reach between barriers: a thread program."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, integers


@eas.kernel
def prefix_sum(x, y, N, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    i = mk.program_id(0) * THREADS + t
    shared = mk.alloc_tg(THREADS, mk.i32)
    total = mk.load(x, i, i < N)
    mk.store(shared, t, total)
    mk.barrier()
    reach = 1
    while reach < THREADS:
        if t >= reach:
            total += mk.load(shared, t - reach)
        mk.barrier()
        mk.store(shared, t, total)
        mk.barrier()
        reach *= 2
    mk.store(y, i, total, i < N)


def arguments() -> Arguments:
    x = integers(201, low=-50, high=50)
    return {"x": x, "y": np.zeros(201, "i4"), "N": 201, "THREADS": 96}


def reference(x: Array, **_: object) -> dict[str, Array]:
    parts = [np.cumsum(x[start : start + 96], dtype="i4") for start in range(0, len(x), 96)]
    return {"y": np.concatenate(parts)}


CASE = Case(prefix_sum, arguments, reference, grid=(3,))
