"""A product of matrices for each of a batch: the third axis of the grid is the batch."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def batched_matmul(a, b, out, TILE: eas.constexpr):
    _, M, K = a.shape
    N = b.shape[2]
    z = mk.program_id(2)
    x = mk.make_block_ptr(a + z * M * K, (M, K), (K, 1), (mk.program_id(0) * TILE, 0), (TILE, TILE))
    y = mk.make_block_ptr(b + z * K * N, (K, N), (N, 1), (0, mk.program_id(1) * TILE), (TILE, TILE))
    acc = mk.zeros((TILE, TILE))
    for _ in range(0, K, TILE):
        left, right = mk.load(x, boundary_check=(0, 1)), mk.load(y, boundary_check=(0, 1))
        acc = mk.dot(left, right, acc)
        x, y = mk.advance(x, (0, TILE)), mk.advance(y, (TILE, 0))
    place = (mk.program_id(0) * TILE, mk.program_id(1) * TILE)
    target = mk.make_block_ptr(out + z * M * N, (M, N), (N, 1), place, (TILE, TILE))
    mk.store(target, acc, boundary_check=(0, 1))


def arguments() -> Arguments:
    return {
        "a": floats(3, 20, 25), "b": floats(3, 25, 17, seed=1), "out": np.zeros((3, 20, 17), "f4"),
        "TILE": 16,
    }  # fmt: skip


def reference(a: Array, b: Array, **_: object) -> dict[str, Array]:
    return {"out": a.astype("f8") @ b.astype("f8")}


CASE = Case(batched_matmul, arguments, reference, grid=(2, 2, 3), tolerance=1e-6)
