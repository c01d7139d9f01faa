"""A product with weights of 4 bits, two in a byte, which are taken apart and joined again."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def matmul_int4(x, packed, scales, out, M, N, K, TILE: eas.constexpr):
    m = mk.program_id(0) * TILE + mk.arange(0, TILE)
    n = mk.program_id(1) * TILE + mk.arange(0, TILE)
    half = mk.arange(0, TILE // 2)
    acc = mk.zeros((TILE, TILE))
    for start in range(0, K, TILE):
        k = start + mk.arange(0, TILE)
        left = mk.load(x, m[:, None] * K + k[None, :], (m[:, None] < M) & (k[None, :] < K))
        pair = start // 2 + half
        byte = mk.load(packed, n[:, None] * (K // 2) + pair[None, :], n[:, None] < N)
        weights = mk.reshape(mk.join(byte & 15, byte >> 4), (TILE, TILE)).to(mk.f32) - 8.0
        acc = mk.dot(left, mk.trans(weights), acc)
    scaled = acc * mk.load(scales, n, n < N)[None, :]
    mk.store(out, m[:, None] * N + n[None, :], scaled, (m[:, None] < M) & (n[None, :] < N))


def arguments() -> Arguments:
    packed = np.random.default_rng(0).integers(0, 256, (19, 16), dtype="u1")
    return {
        "x": floats(21, 32), "packed": packed, "scales": floats(19, seed=1),
        "out": np.zeros((21, 19), "f4"), "M": 21, "N": 19, "K": 32, "TILE": 16,
    }  # fmt: skip


def reference(x: Array, packed: Array, scales: Array, **_: object) -> dict[str, Array]:
    weights = np.stack([packed & 15, packed >> 4], -1).reshape(19, 32).astype("f8") - 8
    return {"out": x.astype("f8") @ weights.T * scales}


CASE = Case(matmul_int4, arguments, reference, grid=(2, 2), tolerance=1e-6)
