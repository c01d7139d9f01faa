"""Two products with one left factor, as in a gated layer: both sums in one loop, fused in f16."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def gated_linear(
    x, w, gate, bias, y, M, N, K,
    BM: eas.constexpr, BN: eas.constexpr, BK: eas.constexpr,
):  # fmt: skip
    m = mk.program_id(0) * BM + mk.arange(0, BM)
    n = mk.program_id(1) * BN + mk.arange(0, BN)
    acc, gates = mk.zeros((BM, BN)), mk.zeros((BM, BN))
    for start in range(0, K, BK):
        k = start + mk.arange(0, BK)
        rows = mk.load(x, m[:, None] * K + k[None, :], (m < M)[:, None] & (k < K)[None, :])
        inside = (k < K)[:, None] & (n < N)[None, :]
        acc += mk.dot(rows, mk.load(w, k[:, None] * N + n[None, :], inside))
        gates += mk.dot(rows, mk.load(gate, k[:, None] * N + n[None, :], inside))
    value = (acc + mk.load(bias, n, n < N)[None, :]) * mk.sigmoid(gates)
    mk.store(y, m[:, None] * N + n[None, :], value.to(mk.f16), (m < M)[:, None] & (n < N)[None, :])


def arguments() -> Arguments:
    m, n, k = 37, 50, 45
    return {
        "x": floats(m, k).astype("f2"), "w": floats(k, n, seed=1).astype("f2"),
        "gate": floats(k, n, seed=2).astype("f2"), "bias": floats(n, seed=3),
        "y": np.zeros((m, n), "f2"), "M": m, "N": n, "K": k, "BM": 32, "BN": 32, "BK": 16,
    }  # fmt: skip


def reference(x: Array, w: Array, gate: Array, bias: Array, **_: object) -> dict[str, Array]:
    x, w, gate = (each.astype("f8") for each in (x, w, gate))
    return {"y": (x @ w + bias) / (1 + np.exp(-(x @ gate)))}


CASE = Case(gated_linear, arguments, reference, grid=(2, 2), tolerance=1e-3)
