"""A product of matrices by tiles, in groups of rows for the cache's sake, with a fused epilogue."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def matmul_tiles(
    a, b, bias, out, M, N, K,
    BM: eas.constexpr, BN: eas.constexpr, BK: eas.constexpr, GROUP: eas.constexpr,
):  # fmt: skip
    pid = mk.program_id(0)
    tall, wide = mk.cdiv(M, BM), mk.cdiv(N, BN)
    first = pid // (GROUP * wide) * GROUP
    rows = mk.minimum(tall - first, GROUP)
    row = first + pid % (GROUP * wide) % rows
    column = pid % (GROUP * wide) // rows

    m, n = row * BM + mk.arange(0, BM), column * BN + mk.arange(0, BN)
    acc = mk.zeros((BM, BN))
    for start in range(0, K, BK):
        k = start + mk.arange(0, BK)
        x = mk.load(a, m[:, None] * K + k[None, :], (m[:, None] < M) & (k[None, :] < K))
        y = mk.load(b, k[:, None] * N + n[None, :], (k[:, None] < K) & (n[None, :] < N))
        acc = mk.dot(x, y, acc)
    total = mk.maximum(acc + mk.load(bias, n, n < N)[None, :], 0.0)
    mk.store(out, m[:, None] * N + n[None, :], total, (m[:, None] < M) & (n[None, :] < N))


def arguments() -> Arguments:
    m, n, k = 70, 45, 50
    return {
        "a": floats(m, k).astype("f2"), "b": floats(k, n, seed=1).astype("f2"),
        "bias": floats(n, seed=2), "out": np.zeros((m, n), "f4"), "M": m, "N": n, "K": k,
        "BM": 32, "BN": 32, "BK": 16, "GROUP": 2,
    }  # fmt: skip


def reference(a: Array, b: Array, bias: Array, **_: object) -> dict[str, Array]:
    return {"out": np.maximum(a.astype("f8") @ b.astype("f8") + bias, 0)}


CASE = Case(matmul_tiles, arguments, reference, grid=(6,), tolerance=1e-6)
