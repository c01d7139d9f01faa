"""A layer of a network in bf16: large tiles, weights with a row per output, a gate fused to it."""

import numpy as np

import eas
from eas import mk
from eas.ir.types import BF16
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def linear_bf16(x, w, bias, out, M, N, K, BM: eas.constexpr, BN: eas.constexpr, BK: eas.constexpr):
    m = mk.program_id(0) * BM + mk.arange(0, BM)[:, None]
    n = mk.program_id(1) * BN + mk.arange(0, BN)[None, :]
    acc = mk.zeros((BM, BN))
    for start in range(0, K, BK):
        k = start + mk.arange(0, BK)[None, :]
        rows = mk.load(x, m * K + k, (m < M) & (k < K))
        weights = mk.load(w, mk.trans(n) * K + k, (mk.trans(n) < N) & (k < K))
        acc += mk.dot(rows, mk.trans(weights))
    y = acc + mk.load(bias, n, n < N)
    mk.store(out, m * N + n, y * mk.sigmoid(y), (m < M) & (n < N))


def arguments() -> Arguments:
    m, n, k = 70, 131, 45
    return {
        "x": floats(m, k).astype(BF16.numpy), "w": floats(n, k, seed=1).astype(BF16.numpy),
        "bias": floats(n, seed=2), "out": np.zeros((m, n), "f4"), "M": m, "N": n, "K": k,
        "BM": 64, "BN": 128, "BK": 16,
    }  # fmt: skip


def reference(x: Array, w: Array, bias: Array, **_: object) -> dict[str, Array]:
    y = x.astype("f8") @ w.astype("f8").T + bias
    return {"out": y / (1 + np.exp(-y))}


CASE = Case(linear_bf16, arguments, reference, grid=(2, 2), tolerance=1e-6)
