"""Root mean square normalization, in a loop over chunks of a long row."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def rmsnorm(x, weight, y, N, BLOCK: eas.constexpr):
    row = mk.program_id(0)
    squares = mk.zeros((BLOCK,), mk.f32)
    for start in range(0, N, BLOCK):
        col = start + mk.arange(0, BLOCK)
        v = mk.load(x, row * N + col, col < N)
        squares += v * v
    scale = mk.rsqrt(mk.sum(squares) / N + 1e-6)
    for start in range(0, N, BLOCK):
        col = start + mk.arange(0, BLOCK)
        v = mk.load(x, row * N + col, col < N)
        mk.store(y, row * N + col, v * scale * mk.load(weight, col, col < N), col < N)


def arguments() -> Arguments:
    rows, n = 3, 333
    return {
        "x": floats(rows, n),
        "weight": floats(n, seed=1),
        "y": np.zeros((rows, n), "f4"),
        "N": n,
        "BLOCK": 128,
    }


def reference(x: Array, weight: Array, **_: object) -> dict[str, Array]:
    v = x.astype(np.float64)
    return {"y": v / np.sqrt((v * v).mean(axis=1, keepdims=True) + 1e-6) * weight}


CASE = Case(rmsnorm, arguments, reference, grid=(3,), tolerance=1e-5)
