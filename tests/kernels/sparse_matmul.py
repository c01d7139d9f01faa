"""A product whose left factor is zero in whole blocks, which a `while` loop skips."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats

EMPTY, END = 0, -1


@eas.kernel
def sparse_matmul(
    a, kinds, b, out, M, N, K,
    BM: eas.constexpr, BN: eas.constexpr, BK: eas.constexpr,
):  # fmt: skip
    m = mk.program_id(0) * BM + mk.arange(0, BM)
    n = mk.program_id(1) * BN + mk.arange(0, BN)
    acc = mk.zeros((BM, BN))
    step = 0
    while step * BK < K:
        kind = mk.load(kinds, step)
        k = step * BK + mk.arange(0, BK)
        step += 1
        if kind == EMPTY:
            continue
        if kind == END:
            break
        x = mk.load(a, m[:, None] * K + k[None, :], (m < M)[:, None] & (k < K)[None, :])
        y = mk.load(b, k[:, None] * N + n[None, :], (k < K)[:, None] & (n < N)[None, :])
        acc = mk.dot(x, y, acc)
    mk.store(out, m[:, None] * N + n[None, :], acc, (m < M)[:, None] & (n < N)[None, :])


def arguments() -> Arguments:
    m, n, k = 20, 27, 60
    return {
        "a": floats(m, k), "kinds": np.array([1, EMPTY, 1, 1, EMPTY, 1, END, 1], "i4"),
        "b": floats(k, n, seed=1), "out": np.zeros((m, n), "f4"),
        "M": m, "N": n, "K": k, "BM": 16, "BN": 16, "BK": 8,
    }  # fmt: skip


def reference(a: Array, kinds: Array, b: Array, **_: object) -> dict[str, Array]:
    used = np.arange(a.shape[1]) // 8
    is_used = (kinds[used] == 1) & (used < list(kinds).index(END))
    return {"out": a[:, is_used].astype("f8") @ b[is_used].astype("f8")}


CASE = Case(sparse_matmul, arguments, reference, grid=(2, 2), tolerance=1e-6)
