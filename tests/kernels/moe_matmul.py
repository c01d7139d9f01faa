"""A mixture of experts: a program multiplies the tokens of one expert, gathered and scattered."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def moe_matmul(
    x, w, tokens, experts, out, T, N, K,
    TOKENS: eas.constexpr, BN: eas.constexpr, BK: eas.constexpr,
):  # fmt: skip
    pid = mk.program_id(0)
    expert = mk.load(experts, pid)
    token = mk.load(tokens, pid * TOKENS + mk.arange(0, TOKENS))[:, None]
    n = mk.program_id(1) * BN + mk.arange(0, BN)[None, :]
    acc = mk.zeros((TOKENS, BN))
    for start in range(0, K, BK):
        k = start + mk.arange(0, BK)[None, :]
        rows = mk.load(x, token * K + k, (token < T) & (k < K))
        tall = mk.trans(k)
        acc += mk.dot(rows, mk.load(w, (expert * K + tall) * N + n, (tall < K) & (n < N)))
    mk.store(out, token * N + n, acc, (token < T) & (n < N))


def arguments() -> Arguments:
    t, n, k = 21, 19, 27
    tokens = np.full((3, 16), t, "i4")
    order = np.random.default_rng(0).permutation(t)
    for row, (first, last) in zip(tokens, ((0, 9), (9, 14), (14, 21)), strict=True):
        row[: last - first] = order[first:last]
    return {
        "x": floats(t, k), "w": floats(3, k, n, seed=1), "tokens": tokens,
        "experts": np.array([2, 0, 1], "i4"), "out": np.zeros((t, n), "f4"),
        "T": t, "N": n, "K": k, "TOKENS": 16, "BN": 16, "BK": 8,
    }  # fmt: skip


def reference(
    x: Array, w: Array, tokens: Array, experts: Array, out: Array, T: int, **_: object
) -> dict[str, Array]:
    right = np.zeros(out.shape)
    for row, expert in zip(tokens, experts, strict=True):
        own = row[row < T]
        right[own] = x[own].astype("f8") @ w[expert].astype("f8")
    return {"out": right}


CASE = Case(moe_matmul, arguments, reference, grid=(3, 2), tolerance=1e-6)
