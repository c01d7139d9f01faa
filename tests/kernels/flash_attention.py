"""Attention in one pass over the keys: each row corrects its maximum and sum on the way."""

import math

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def flash_attention(
    q, k, v, out, lse, N, scale,
    BM: eas.constexpr, BN: eas.constexpr, D: eas.constexpr, CAUSAL: eas.constexpr,
):  # fmt: skip
    m, d = mk.program_id(0) * BM + mk.arange(0, BM), mk.arange(0, D)
    rows = mk.load(q, m[:, None] * D + d[None, :], m[:, None] < N)
    high, total = mk.full((BM,), -math.inf), mk.zeros((BM,))
    acc = mk.zeros((BM, D))
    stop = mk.minimum((mk.program_id(0) + 1) * BM, N) if CAUSAL else N
    for start in range(0, stop, BN):
        n = start + mk.arange(0, BN)
        keys = mk.load(k, n[None, :] * D + d[:, None], n[None, :] < N)
        scores = mk.dot(rows, keys) * scale
        seen = (n[None, :] < N) & (m[:, None] >= n[None, :]) if CAUSAL else n[None, :] < N
        scores = mk.where(seen, scores, -math.inf)
        higher = mk.maximum(high, mk.max(scores, axis=1))
        weights = mk.exp(scores - higher[:, None])
        factor = mk.exp(high - higher)
        total = total * factor + mk.sum(weights, axis=1)
        values = mk.load(v, n[:, None] * D + d[None, :], n[:, None] < N)
        acc = acc * factor[:, None] + mk.dot(weights, values)
        high = higher
    mk.store(out, m[:, None] * D + d[None, :], acc / total[:, None], m[:, None] < N)
    mk.store(lse, m, high + mk.log(total), m < N)


def arguments() -> Arguments:
    return {
        "q": floats(45, 16), "k": floats(45, 16, seed=1), "v": floats(45, 16, seed=2),
        "out": np.zeros((45, 16), "f4"), "lse": np.zeros(45, "f4"), "N": 45, "scale": 0.25,
        "BM": 16, "BN": 16, "D": 16, "CAUSAL": True,
    }  # fmt: skip


def reference(
    q: Array, k: Array, v: Array, scale: float, CAUSAL: bool, **_: object
) -> dict[str, Array]:
    scores = q.astype("f8") @ k.astype("f8").T * scale
    if CAUSAL:
        scores[np.triu_indices(len(q), 1)] = -math.inf
    lse = np.logaddexp.reduce(scores, axis=1)
    return {"out": np.exp(scores - lse[:, None]) @ v.astype("f8"), "lse": lse}


CASE = Case(flash_attention, arguments, reference, grid=(3,), tolerance=1e-6)
