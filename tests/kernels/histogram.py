"""Counts bytes in shared memory first, then adds each threadgroup's counts up: a thread program."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, integers


@eas.kernel
def histogram(data, counts, N, BINS: eas.constexpr, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    shared = mk.alloc_tg(BINS, mk.i32)
    for slot in range(t, BINS, THREADS):
        mk.store(shared, slot, 0)
    mk.barrier()
    i = mk.program_id(0) * THREADS + t
    while i < N:
        mk.atomic_add(shared, mk.load(data, i), 1)
        i += mk.num_programs(0) * THREADS
    mk.barrier()
    for slot in range(t, BINS, THREADS):
        mk.atomic_add(counts, slot, mk.load(shared, slot))


def arguments() -> Arguments:
    data = integers(1003, low=0, high=100).astype("u1")
    return {
        "data": data,
        "counts": np.zeros(100, "i4"),
        "N": 1003,
        "BINS": 100,
        "THREADS": 64,
    }


def reference(data: Array, **_: object) -> dict[str, Array]:
    return {"counts": np.bincount(data, minlength=100).astype("i4")}


CASE = Case(histogram, arguments, reference, grid=(3,))
