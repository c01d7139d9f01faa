"""One step of the heat equation on a grid, in tiles of two dimensions; the edge stays as it is."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def stencil(x, y, H, W, RATE: eas.constexpr, TILE: eas.constexpr):
    row = (mk.program_id(0) * TILE + mk.arange(0, TILE))[:, None]
    col = (mk.program_id(1) * TILE + mk.arange(0, TILE))[None, :]
    here = row * W + col
    inside = (row < H) & (col < W)
    inner = (row > 0) & (row < H - 1) & (col > 0) & (col < W - 1)
    centre = mk.load(x, here, inside)
    around = (
        mk.load(x, here - W, inner)
        + mk.load(x, here + W, inner)
        + mk.load(x, here - 1, inner)
        + mk.load(x, here + 1, inner)
    )
    mk.store(y, here, mk.where(inner, centre + RATE * (around - 4.0 * centre), centre), inside)


def arguments() -> Arguments:
    h, w = 21, 35
    return {"x": floats(h, w), "y": np.zeros((h, w), "f4"), "H": h, "W": w, "RATE": 0.1, "TILE": 16}


def reference(x: Array, **_: object) -> dict[str, Array]:
    v = x.astype(np.float64)
    y = v.copy()
    around = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:]
    y[1:-1, 1:-1] += 0.1 * (around - 4 * v[1:-1, 1:-1])
    return {"y": y}


CASE = Case(stencil, arguments, reference, grid=(2, 3), tolerance=1e-6)
