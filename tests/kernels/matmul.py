"""Multiplies two matrices: a tile per program, a loop over the inner dimension."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def matmul(a, b, c, M, N, K, ROWS: eas.constexpr, COLS: eas.constexpr):
    row = mk.program_id(0) * ROWS + mk.arange(0, ROWS)
    col = mk.program_id(1) * COLS + mk.arange(0, COLS)
    acc = mk.zeros((ROWS, COLS), mk.f32)
    for k in range(K):
        x = mk.load(a, row * K + k, row < M)
        y = mk.load(b, k * N + col, col < N)
        acc += x[:, None] * y[None, :]
    inside = (row < M)[:, None] & (col < N)[None, :]
    mk.store(c, row[:, None] * N + col[None, :], acc, inside)


def arguments() -> Arguments:
    m, n, k = 37, 29, 19
    return {
        "a": floats(m, k),
        "b": floats(k, n, seed=1),
        "c": np.zeros((m, n), "f4"),
        "M": m,
        "N": n,
        "K": k,
        "ROWS": 16,
        "COLS": 8,
    }


def reference(a: Array, b: Array, **_: object) -> dict[str, Array]:
    return {"c": a.astype(np.float64) @ b}


CASE = Case(matmul, arguments, reference, grid=(3, 4), tolerance=1e-5)
