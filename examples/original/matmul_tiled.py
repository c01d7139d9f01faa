"""Multiplies matrices by tiles in threadgroup memory, four columns per thread.

uv run python -m examples.original.matmul_tiled
"""

from __future__ import annotations

from typing import Any

import numpy as np

import eas
from eas import mk


@eas.kernel
def matmul_tiled_kernel(
    a,
    b,
    c,
    M,
    N,
    K,
    BM: eas.constexpr,
    BN: eas.constexpr,
    BK: eas.constexpr,
    NT: eas.constexpr,
):
    """`c[M, N] = a[M, K] @ b[K, N]`: a program has a tile of `BM` rows and `BN` columns."""
    if BN % 4 != 0:
        raise ValueError("BN must be divisible by 4: a thread has four columns")
    if NT != BM * (BN // 4):
        raise ValueError(f"NT must be BM * BN / 4, which is {BM * BN // 4}, not {NT}")
    tid = mk.tid(0, NT)
    row, group = tid // (BN // 4), tid % (BN // 4)
    top, left = mk.program_id(1) * BM, mk.program_id(0) * BN
    lda, ldb = BK + 1, BN + 1  # padded rows
    As = mk.alloc_tg(BM * lda)
    Bs = mk.alloc_tg(BK * ldb)
    acc0, acc1, acc2, acc3 = 0.0, 0.0, 0.0, 0.0
    for k0 in range(0, K, BK):
        for i in range(0, BM * BK, NT):
            at = tid + i
            r, s = at // BK, at % BK
            inside = at < BM * BK
            mask = mk.and_(inside, mk.and_(top + r < M, k0 + s < K))
            mk.store(As, r * lda + s, mk.load(a, (top + r) * K + k0 + s, mask), inside)
        for i in range(0, BK * BN, NT):
            at = tid + i
            r, s = at // BN, at % BN
            inside = at < BK * BN
            mask = mk.and_(inside, mk.and_(k0 + r < K, left + s < N))
            mk.store(Bs, r * ldb + s, mk.load(b, (k0 + r) * N + left + s, mask), inside)
        mk.barrier()
        base = row * lda
        column = group * 4
        acc0 = acc0 + mk.dot(As, base, 1, Bs, column, ldb, BK)
        acc1 = acc1 + mk.dot(As, base, 1, Bs, column + 1, ldb, BK)
        acc2 = acc2 + mk.dot(As, base, 1, Bs, column + 2, ldb, BK)
        acc3 = acc3 + mk.dot(As, base, 1, Bs, column + 3, ldb, BK)
        mk.barrier()
    line = (top + row) * N
    for i, acc in enumerate((acc0, acc1, acc2, acc3)):
        col = left + group * 4 + i
        mk.store(c, line + col, acc, mk.and_(top + row < M, mk.not_(col >= N)))


def tiles(meta: dict[str, Any], runtime_args: dict[str, Any]) -> tuple[int, int, int]:
    """The grid: so many tiles along the columns and the rows."""
    return mk.cdiv(runtime_args["N"], meta["BN"]), mk.cdiv(runtime_args["M"], meta["BM"]), 1


def run(m: int = 19, n: int = 30, k: int = 21) -> float:
    """The largest difference to NumPy's product."""
    random = np.random.default_rng(0)
    a, b = random.standard_normal((m, k), np.float32), random.standard_normal((k, n), np.float32)
    c = np.zeros((m, n), np.float32)
    meta: dict[str, Any] = {"BM": 8, "BN": 16, "BK": 8, "NT": 32}
    arrays = (a.reshape(-1), b.reshape(-1), c.reshape(-1))
    matmul_tiled_kernel(*arrays, m, n, k, **meta, _grid=tiles, _tptg=(32, 1, 1))
    return float(np.abs(c - a @ b).max(initial=0))


def main() -> None:
    print(f"the largest difference to NumPy is {run():.1g}")


if __name__ == "__main__":
    main()
