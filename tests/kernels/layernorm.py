"""Layer normalization of each row, with a weight and a bias per column."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def layernorm(x, weight, bias, y, N, EPSILON: eas.constexpr, BLOCK: eas.constexpr):
    row = mk.program_id(0)
    col = mk.arange(0, BLOCK)
    mask = col < N
    v = mk.load(x, row * N + col, mask)
    mean = mk.sum(v) / N
    centred = mk.where(mask, v - mean, 0.0)
    scale = mk.rsqrt(mk.sum(centred * centred) / N + EPSILON)
    result = centred * scale * mk.load(weight, col, mask) + mk.load(bias, col, mask)
    mk.store(y, row * N + col, result, mask)


def arguments() -> Arguments:
    rows, n = 5, 300
    return {
        "x": floats(rows, n),
        "weight": floats(n, seed=1),
        "bias": floats(n, seed=2),
        "y": np.zeros((rows, n), "f4"),
        "N": n,
        "EPSILON": 1e-5,
        "BLOCK": 512,
    }


def reference(x: Array, weight: Array, bias: Array, **_: object) -> dict[str, Array]:
    v = x.astype(np.float64)
    centred = v - v.mean(axis=1, keepdims=True)
    variance = (centred * centred).mean(axis=1, keepdims=True)
    return {"y": centred / np.sqrt(variance + 1e-5) * weight + bias}


CASE = Case(layernorm, arguments, reference, grid=(5,), tolerance=1e-5)
