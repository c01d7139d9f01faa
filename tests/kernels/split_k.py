"""A product of long rows: several programs share each tile and add their parts by atomics."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, integers


@eas.kernel
def split_k(a, b, out, M, N, K, TILE: eas.constexpr, BK: eas.constexpr, SPLIT: eas.constexpr):
    m = mk.program_id(0) * TILE + mk.arange(0, TILE)[:, None]
    n = mk.program_id(1) * TILE + mk.arange(0, TILE)[None, :]
    acc = mk.zeros((TILE, TILE))
    for start in range(mk.program_id(2) * BK, K, SPLIT * BK):
        k = start + mk.arange(0, BK)
        x = mk.load(a, m * K + k[None, :], (m < M) & (k[None, :] < K))
        y = mk.load(b, k[:, None] * N + n, (k[:, None] < K) & (n < N))
        acc += mk.dot(x, y)
    mk.atomic_add(out, m * N + n, acc, (m < M) & (n < N))


def arguments() -> Arguments:
    a, b = integers(20, 100, low=-4, high=5), integers(100, 18, low=-4, high=5, seed=1)
    return {
        "a": a.astype("f4"), "b": b.astype("f4"), "out": np.zeros((20, 18), "f4"),
        "M": 20, "N": 18, "K": 100, "TILE": 16, "BK": 8, "SPLIT": 3,
    }  # fmt: skip


def reference(a: Array, b: Array, **_: object) -> dict[str, Array]:
    return {"out": a @ b}


CASE = Case(split_k, arguments, reference, grid=(2, 2, 3))
