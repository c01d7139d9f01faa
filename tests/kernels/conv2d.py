"""A convolution with padding, as a product of matrices: pixels by channels, place by place."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def conv2d(x, w, y, PIXELS: eas.constexpr, OUT: eas.constexpr, IN: eas.constexpr):
    H, W = x.shape[0], x.shape[1]
    pixel = mk.program_id(0) * PIXELS + mk.arange(0, PIXELS)
    row, column = pixel // W, pixel % W
    c, o = mk.arange(0, IN), mk.arange(0, OUT)
    acc = mk.zeros((PIXELS, OUT))
    for place in mk.static_range(9):
        r, s = row + (place // 3 - 1), column + (place % 3 - 1)
        inside = (r >= 0) & (r < H) & (s >= 0) & (s < W)
        patch = mk.load(x, ((r * W + s) * IN)[:, None] + c[None, :], inside[:, None])
        acc = mk.dot(patch, mk.load(w, (place * IN + c)[:, None] * OUT + o[None, :]), acc)
    mk.store(y, pixel[:, None] * OUT + o[None, :], acc, pixel[:, None] < H * W)


def arguments() -> Arguments:
    return {
        "x": floats(7, 9, 8), "w": floats(3, 3, 8, 16, seed=1), "y": np.zeros((7, 9, 16), "f4"),
        "PIXELS": 32, "OUT": 16, "IN": 8,
    }  # fmt: skip


def reference(x: Array, w: Array, **_: object) -> dict[str, Array]:
    padded = np.pad(x.astype("f8"), ((1, 1), (1, 1), (0, 0)))
    windows = [padded[r : r + 7, s : s + 9] for r in range(3) for s in range(3)]
    return {"y": np.einsum("phwi,pio->hwo", windows, w.astype("f8").reshape(9, 8, 16))}


CASE = Case(conv2d, arguments, reference, grid=(2,), tolerance=1e-6)
