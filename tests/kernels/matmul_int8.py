"""A product of quantised matrices: int8 factors, exact sums, a scale for each column."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats, integers


@eas.kernel
def matmul_int8(a, b, scales, out, M, N, K, TILE: eas.constexpr):
    m = mk.program_id(0) * TILE + mk.arange(0, TILE)
    n = mk.program_id(1) * TILE + mk.arange(0, TILE)
    acc = mk.zeros((TILE, TILE))
    for start in range(0, K, TILE):
        k = start + mk.arange(0, TILE)
        x = mk.load(a, m[:, None] * K + k[None, :], (m[:, None] < M) & (k[None, :] < K))
        y = mk.load(b, k[:, None] * N + n[None, :], (k[:, None] < K) & (n[None, :] < N))
        acc = mk.dot(x.to(mk.f16), y.to(mk.f16), acc)
    scaled = acc * mk.load(scales, n, n < N)[None, :]
    mk.store(out, m[:, None] * N + n[None, :], scaled, (m[:, None] < M) & (n[None, :] < N))


def arguments() -> Arguments:
    a, b = integers(21, 40, low=-128, high=128), integers(40, 19, low=-128, high=128, seed=1)
    return {
        "a": a.astype("i1"), "b": b.astype("i1"), "scales": floats(19),
        "out": np.zeros((21, 19), "f4"), "M": 21, "N": 19, "K": 40, "TILE": 16,
    }  # fmt: skip


def reference(a: Array, b: Array, scales: Array, **_: object) -> dict[str, Array]:
    return {"out": (a.astype("i4") @ b.astype("i4")).astype("f4") * scales}


CASE = Case(matmul_int8, arguments, reference, grid=(2, 2))
