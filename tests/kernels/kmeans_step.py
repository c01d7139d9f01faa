"""A step of k-means: each point finds its nearest centre, and adds itself to that one's sums."""

import math

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, integers


@eas.kernel
def kmeans_step(points, centres, nearest, sums, counts, N, K, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    x, y = mk.load(points, 2 * i, i < N), mk.load(points, 2 * i + 1, i < N)
    best, place = mk.full((BLOCK,), math.inf), mk.zeros((BLOCK,), mk.i32)
    for k in range(K):
        dx, dy = x - mk.load(centres, 2 * k), y - mk.load(centres, 2 * k + 1)
        far = dx * dx + dy * dy
        place = mk.where(far < best, k, place)
        best = mk.minimum(far, best)
    mk.store(nearest, i, place, i < N)
    mk.atomic_add(sums, 2 * place, x, i < N)
    mk.atomic_add(sums, 2 * place + 1, y, i < N)
    mk.atomic_add(counts, place, 1, i < N)


def arguments() -> Arguments:
    return {
        "points": integers(205, 2, low=-99, high=99).astype("f4"),
        "centres": integers(7, 2, low=-99, high=99, seed=1).astype("f4"),
        "nearest": np.zeros(205, "i4"), "sums": np.zeros((7, 2), "f4"),
        "counts": np.zeros(7, "i4"), "N": 205, "K": 7, "BLOCK": 64,
    }  # fmt: skip


def reference(points: Array, centres: Array, **_: object) -> dict[str, Array]:
    far = ((points[:, None] - centres[None]) ** 2).sum(-1)
    nearest = far.argmin(1).astype("i4")
    sums = np.zeros((7, 2), "f4")
    np.add.at(sums, nearest, points)
    return {
        "nearest": nearest,
        "sums": sums,
        "counts": np.bincount(nearest, minlength=7).astype("i4"),
    }


CASE = Case(kmeans_step, arguments, reference)
