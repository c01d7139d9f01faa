"""A product of matrices by a thread program: each simdgroup has one 8x8 matrix of the result."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, integers


@eas.kernel
def mma_tiles(a, b, out, K, N, THREADS: eas.constexpr):
    mk.tid(0, THREADS)
    row = mk.program_id(0) * 8
    column = (mk.program_id(1) * (THREADS // 32) + mk.sg_id()) * 8
    acc = mk.mma_zero()
    for k in range(0, K, 8):
        acc = mk.mma(acc, a, row * K + k, b, k * N + column, a_stride=K, b_stride=N)
    mk.mma_store(acc, out, row * N + column, stride=N)


def arguments() -> Arguments:
    a, b = integers(16, 24, low=-9, high=10), integers(24, 32, low=-9, high=10, seed=1)
    return {
        "a": a.astype("f4"), "b": b.astype("f4"), "out": np.zeros((16, 32), "f4"),
        "K": 24, "N": 32, "THREADS": 64,
    }  # fmt: skip


def reference(a: Array, b: Array, **_: object) -> dict[str, Array]:
    return {"out": a @ b}


CASE = Case(mma_tiles, arguments, reference, grid=(2, 2))
