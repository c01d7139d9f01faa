"""The nearest of a set of centres for each point in the plane."""

import math

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def nearest(points, centres, index, N, CENTRES: eas.constexpr, BLOCK: eas.constexpr):
    i = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    k = mk.arange(0, CENTRES)
    dx = mk.load(points, 2 * i, i < N)[:, None] - mk.load(centres, 2 * k)[None, :]
    dy = mk.load(points, 2 * i + 1, i < N)[:, None] - mk.load(centres, 2 * k + 1)[None, :]
    squares = dx * dx + dy * dy
    mk.store(index, i, mk.argmin(squares, axis=1), i < N)


def arguments() -> Arguments:
    return {
        "points": floats(101, 2),
        "centres": floats(13, 2, seed=1),
        "index": np.zeros(101, "i4"),
        "N": 101,
        "CENTRES": 13,
        "BLOCK": 32,
    }


def reference(points: Array, centres: Array, **_: object) -> dict[str, Array]:
    chosen = [
        min(range(len(centres)), key=lambda k: math.dist(point, centres[k])) for point in points
    ]
    return {"index": np.array(chosen, "i4")}


CASE = Case(nearest, arguments, reference)
