"""Pooling over three axes with padding, by the maximum or the mean: a thread per element."""

import math

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, floats


@eas.kernel
def pool_3d(x, y, SIZE: eas.constexpr, STRIDE: eas.constexpr, PAD: eas.constexpr,
            MODE: eas.constexpr, THREADS: eas.constexpr):  # fmt: skip
    depth, height, width = x.shape
    place = mk.program_id(0) * THREADS + mk.tid(0, THREADS)
    if place >= y.shape[0] * y.shape[1] * y.shape[2]:
        return
    rest, column = divmod(place, y.shape[2])
    layer, row = divmod(rest, y.shape[1])
    found, count = -math.inf if MODE == "max" else 0.0, 0
    for i in range(layer * STRIDE - PAD, layer * STRIDE - PAD + SIZE):
        if i not in range(depth):
            continue
        for j in range(row * STRIDE - PAD, row * STRIDE - PAD + SIZE):
            if j not in range(height):
                continue
            for k in range(column * STRIDE - PAD, column * STRIDE - PAD + SIZE):
                if 0 <= k < width:
                    found = max(found, x[i, j, k]) if MODE == "max" else found + x[i, j, k]
                    count += 1
    y[layer, row, column] = found if MODE == "max" else found / count


def arguments() -> Arguments:
    return {
        "x": floats(5, 7, 9), "y": np.zeros((3, 4, 5), "f4"), "SIZE": 3, "STRIDE": 2, "PAD": 1,
        "MODE": "mean", "THREADS": 32,
    }  # fmt: skip


def reference(x: Array, **_: object) -> dict[str, Array]:
    padded = np.pad(x.astype("f8"), 1, constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3, 3))[::2, ::2, ::2]
    return {"y": np.nanmean(windows, (3, 4, 5))}


CASE = Case(pool_3d, arguments, reference, grid=(2,), tolerance=1e-6)
