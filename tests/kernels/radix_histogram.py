"""How often each digit occurs, for all digits of a radix sort, counted in threadgroup memory."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case


@eas.kernel
def radix_histogram(keys, counts, N, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    local = mk.alloc_tg(64, mk.i32)
    if t < 64:
        mk.store(local, t, 0)
    mk.barrier()
    for i in range(mk.program_id(0) * THREADS + t, N, mk.num_programs(0) * THREADS):
        key = mk.load(keys, i)
        for digit in mk.static_range(4):
            mk.atomic_add(local, 16 * digit + ((key >> (4 * digit)) & 15).to(mk.i32), 1)
    mk.barrier()
    if t < 64:
        mk.atomic_add(counts, t, mk.load(local, t))


def arguments() -> Arguments:
    keys = np.random.default_rng(0).integers(0, 1 << 16, 701, dtype="u4")
    return {"keys": keys, "counts": np.zeros((4, 16), "i4"), "N": 701, "THREADS": 96}


def reference(keys: Array, **_: object) -> dict[str, Array]:
    digits = [np.bincount(keys >> (4 * d) & 15, minlength=16) for d in range(4)]
    return {"counts": np.array(digits, "i4")}


CASE = Case(radix_histogram, arguments, reference, grid=(3,))
