"""A product of bytes with a zero point: exact sums in i32, a scale, a bias that may be None."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats, integers


@eas.kernel
def matmul_u8(a, b, bias, out, zero, scale, TILE: eas.constexpr):
    (M, K), N = a.shape, b.shape[1]
    m = mk.program_id(0) * TILE + mk.arange(0, TILE)[:, None]
    n = mk.program_id(1) * TILE + mk.arange(0, TILE)[None, :]
    products, sums = mk.zeros((TILE, TILE), mk.i32), mk.zeros((1, TILE), mk.i32)
    for start in range(0, K, TILE):
        across, down = start + mk.arange(0, TILE)[None, :], start + mk.arange(0, TILE)[:, None]
        x = mk.load(a, m * K + across, (m < M) & (across < K))
        y = mk.load(b, down * N + n, (down < K) & (n < N))
        products = mk.dot(x, y, products)
        sums += mk.sum(y.to(mk.i32), axis=0, keep_dims=True)
    if m < M and n < N:
        exact = (products - zero * sums) * scale
        out[m, n] = exact if bias is None else exact + bias[n]


def arguments() -> Arguments:
    return {
        "a": integers(21, 40, low=0, high=256).astype("u1"),
        "b": integers(40, 19, low=-128, high=128, seed=1).astype("i1"),
        "bias": floats(19), "out": np.zeros((21, 19), "f4"),
        "zero": 128, "scale": 0.5, "TILE": 16,
    }  # fmt: skip


def reference(a: Array, b: Array, bias: Array, **_: object) -> dict[str, Array]:
    exact = (a.astype("i4") - 128) @ b.astype("i4")
    return {"out": exact.astype("f4") * np.float32(0.5) + bias}


CASE = Case(matmul_u8, arguments, reference, grid=(2, 2))
