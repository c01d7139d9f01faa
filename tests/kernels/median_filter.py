"""The middle of each pixel's nine neighbours, by a network that sorts no more than it takes."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case, integers

NETWORK = (
    (1, 2), (4, 5), (7, 8), (0, 1), (3, 4), (6, 7), (1, 2), (4, 5), (7, 8), (0, 3),
    (5, 8), (4, 7), (3, 6), (1, 4), (2, 5), (4, 7), (4, 2), (6, 4), (4, 2),
)  # fmt: skip


@eas.kernel
def median_filter(image, out, BLOCK: eas.constexpr):
    height, width = image.shape
    pixel = mk.program_id(0) * BLOCK + mk.arange(0, BLOCK)
    if pixel >= height * width:
        return
    y, x = divmod(pixel, width)
    near = [
        image[mk.clamp(y + down, 0, height - 1), mk.clamp(x + right, 0, width - 1)]
        for down in (-1, 0, 1)
        for right in (-1, 0, 1)
    ]
    for a, b in NETWORK:
        low, high = min(near[a], near[b]), max(near[a], near[b])
        near = [low if n == a else high if n == b else v for n, v in enumerate(near)]
    out[y, x] = near[4]


def arguments() -> Arguments:
    image = integers(9, 15, low=0, high=256).astype("u1")
    return {"image": image, "out": np.zeros_like(image), "BLOCK": 64}


def reference(image: Array, **_: object) -> dict[str, Array]:
    padded = np.pad(image, 1, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    return {"out": np.median(windows, (2, 3)).astype("u1")}


CASE = Case(median_filter, arguments, reference, grid=(3,))
