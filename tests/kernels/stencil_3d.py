"""Seven points of a grid of three axes: blocks of three axes, neighbours by a static loop."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats

NEIGHBOURS = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))


@eas.kernel
def stencil_3d(x, y, SIZE: eas.constexpr):
    X, Y, Z = x.shape
    i = mk.program_id(0) * SIZE + mk.arange(0, SIZE)[:, None, None]
    j = mk.program_id(1) * SIZE + mk.arange(0, SIZE)[None, :, None]
    k = mk.program_id(2) * SIZE + mk.arange(0, SIZE)[None, None, :]
    inside = (i < X) & (j < Y) & (k < Z)
    total = -6.0 * mk.load(x, (i * Y + j) * Z + k, inside)
    for di, dj, dk in NEIGHBOURS:
        a, b, c = i + di, j + dj, k + dk
        is_there = (a >= 0) & (a < X) & (b >= 0) & (b < Y) & (c >= 0) & (c < Z)
        total += mk.load(x, (a * Y + b) * Z + c, is_there)
    mk.store(y, (i * Y + j) * Z + k, total, inside)


def arguments() -> Arguments:
    return {"x": floats(5, 7, 9), "y": np.zeros((5, 7, 9), "f4"), "SIZE": 4}


def reference(x: Array, **_: object) -> dict[str, Array]:
    wide = np.pad(x.astype("f8"), 1)
    y = -6.0 * x
    for shift in NEIGHBOURS:
        y = y + np.roll(wide, [-s for s in shift], (0, 1, 2))[1:-1, 1:-1, 1:-1]
    return {"y": y}


CASE = Case(stencil_3d, arguments, reference, grid=(2, 2, 3), tolerance=1e-6)
