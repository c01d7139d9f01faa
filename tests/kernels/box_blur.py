"""The mean around each pixel, of arrays with strides, indexed as in Python."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def box_blur(source, target, RADIUS: eas.constexpr, BLOCK: eas.constexpr):
    height, width = source.shape
    row = mk.program_id(0)
    col = mk.program_id(1) * BLOCK + mk.arange(0, BLOCK)
    if col >= width:
        return
    total, count = 0.0, 0
    for i in range(row - RADIUS, row + RADIUS + 1):
        for j in range(col - RADIUS, col + RADIUS + 1):
            if 0 <= i < height and 0 <= j < width:
                total += source[i, j]
                count += 1
    target[row, col] = total / count


def arguments() -> Arguments:
    source = floats(22, 60)[::2, 1::3]
    target = np.zeros((20, 11), "f4").T
    return {"source": source, "target": target, "RADIUS": 1, "BLOCK": 8}


def reference(source: Array, target: Array, RADIUS: int, **_: object) -> dict[str, Array]:
    blurred = np.zeros(source.shape)
    for i, j in np.ndindex(source.shape):
        rows = slice(max(i - RADIUS, 0), i + RADIUS + 1)
        cols = slice(max(j - RADIUS, 0), j + RADIUS + 1)
        blurred[i, j] = source[rows, cols].mean(dtype=np.float64)
    return {"target": blurred}


CASE = Case(box_blur, arguments, reference, grid=(11, 3), tolerance=1e-6)
