"""Multiplies matrices, one element of the product per thread; the grid follows from `H` and `W`.

uv run python -m examples.original.matmul
"""

from __future__ import annotations

import numpy as np

import eas
from eas import mk


@eas.kernel
def matmul_kernel(a, b, c, H, W, BLOCK: eas.constexpr, K: eas.constexpr):
    """`c[H, W] = a[H, K] @ b[K, W]`: a program has `BLOCK` columns of one row."""
    row = mk.program_id(1)
    col = mk.program_id(0) * BLOCK + mk.tid(0, BLOCK)
    mask = mk.where(row < H, col < W, False)
    acc = 0.0
    for k in range(K):
        acc = acc + mk.load(a, row * K + k, mask) * mk.load(b, k * W + col, mask)
    mk.store(c, row * W + col, acc, mask)


def run(m: int = 13, n: int = 70, k: int = 20, block: int = 32) -> float:
    """The largest difference to NumPy's product."""
    random = np.random.default_rng(0)
    a, b = random.standard_normal((m, k), np.float32), random.standard_normal((k, n), np.float32)
    c = np.zeros((m, n), np.float32)
    matmul_kernel(a.reshape(-1), b.reshape(-1), c.reshape(-1), m, n, BLOCK=block, K=k)
    return float(np.abs(c - a @ b).max(initial=0))


def main() -> None:
    print(f"the largest difference to NumPy is {run():.1g}")


if __name__ == "__main__":
    main()
