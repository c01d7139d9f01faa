"""Multiplies matrices by 8x8 fragments of simdgroups, in f16 with sums in f32.

uv run python -m examples.original.matmul_simdgroup
"""

from __future__ import annotations

from typing import Any

import numpy as np

import eas
from eas import mk
from eas.runtime import get_runtime


@eas.kernel
def matmul_simdgroup_kernel(
    a,
    b,
    c,
    M,
    N,
    BM: eas.constexpr,
    BN: eas.constexpr,
    BK: eas.constexpr,
    K: eas.constexpr,
    NT: eas.constexpr,
):
    """`c[M, N] = a[M, K] @ b[K, N]`: a simdgroup has 8 rows and 8 columns of the product."""
    if BM % 8 != 0 or BN % 8 != 0 or BK % 8 != 0:
        raise ValueError("BM, BN and BK must be divisible by 8")
    if NT != (BM // 8) * (BN // 8) * 32:
        raise ValueError("NT must be 32 for each 8x8 fragment of a tile")
    tid, sg = mk.tid(0, NT), mk.sg_id()
    top, left = mk.program_id(1) * BM, mk.program_id(0) * BN
    down, right = sg // (BN // 8) * 8, sg % (BN // 8) * 8
    lda, ldb, ldc = BK + 1, BN + 1, BN + 1
    As = mk.alloc_tg_f16(BM * lda)
    Bs = mk.alloc_tg_f16(BK * ldb)
    Cs = mk.alloc_tg(BM * ldc)
    acc = mk.mma_zero()
    for k0 in range(0, K, BK):
        for i in range(0, BM * BK, NT):
            r, s = (tid + i) // BK, (tid + i) % BK
            inside = tid + i < BM * BK
            mask = mk.and_(inside, mk.and_(top + r < M, k0 + s < K))
            value = mk.to_f16(mk.load(a, (top + r) * K + k0 + s, mask))
            mk.store(As, r * lda + s, value, inside)
        for i in range(0, BK * BN, NT):
            r, s = (tid + i) // BN, (tid + i) % BN
            inside = tid + i < BK * BN
            mask = mk.and_(inside, mk.and_(k0 + r < K, left + s < N))
            value = mk.to_f16(mk.load(b, (k0 + r) * N + left + s, mask))
            mk.store(Bs, r * ldb + s, value, inside)
        mk.barrier()
        for kk in range(0, BK, 8):
            acc = mk.mma(As, down * lda + kk, lda, Bs, kk * ldb + right, ldb, acc)
        mk.barrier()
    mk.mma_store(Cs, down * ldc + right, ldc, acc)
    mk.barrier()
    for i in range(0, BM * BN, NT):
        r, s = (tid + i) // BN, (tid + i) % BN
        mask = mk.and_(tid + i < BM * BN, mk.and_(top + r < M, left + s < N))
        mk.store(c, (top + r) * N + left + s, mk.load(Cs, r * ldc + s, tid + i < BM * BN), mask)


def run(m: int = 21, n: int = 45, k: int = 20) -> float:
    """The largest difference to NumPy's product of the same halves."""
    random = np.random.default_rng(0)
    a, b = random.standard_normal((m, k), np.float32), random.standard_normal((k, n), np.float32)
    c = np.zeros((m, n), np.float32)
    meta: dict[str, Any] = {"BM": 16, "BN": 32, "BK": 8, "K": k, "NT": 256}
    arrays = {"a": a.reshape(-1), "b": b.reshape(-1), "c": c.reshape(-1)}
    threads = (meta["NT"], 1, 1)
    compiled = matmul_simdgroup_kernel.compile(*arrays.values(), m, n, **meta, _tptg=threads)
    grid = (mk.cdiv(n, meta["BN"]), mk.cdiv(m, meta["BM"]), 1)
    runtime = get_runtime()
    runtime.run(compiled, {**arrays, "M": m, "N": n}, meta, grid=grid, tptg=threads)
    exact = a.astype(np.float16).astype(np.float32) @ b.astype(np.float16).astype(np.float32)
    return float(np.abs(c - exact).max(initial=0))


def main() -> None:
    print(f"the largest difference to NumPy is {run():.1g}")


if __name__ == "__main__":
    main()
