"""Sorts a short array in shared memory by comparing neighbours: a thread program."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, integers


@eas.kernel
def odd_even_sort(x, N, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    shared = mk.alloc_tg(2 * THREADS, mk.i32)
    for i in range(t, N, THREADS):
        mk.store(shared, i, mk.load(x, i))
    mk.barrier()
    for turn in range(N):
        left = 2 * t + turn % 2
        if left + 1 < N:
            a, b = mk.load(shared, left), mk.load(shared, left + 1)
            if a > b:
                mk.store(shared, left, b)
                mk.store(shared, left + 1, a)
        mk.barrier()
    for i in range(t, N, THREADS):
        mk.store(x, i, mk.load(shared, i))


def arguments() -> Arguments:
    return {"x": integers(53, low=-99, high=99), "N": 53, "THREADS": 32}


def reference(x: Array, **_: object) -> dict[str, Array]:
    return {"x": np.sort(x)}


CASE = Case(odd_even_sort, arguments, reference, grid=(1,))
