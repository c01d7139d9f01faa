"""Names each spot of an image after its first pixel: neighbours lower each other's names."""

import numpy as np

import eas
from eas import mk
from tests.kernels.case import Arguments, Array, Case

NEIGHBOURS = ((-1, 0), (1, 0), (0, -1), (0, 1))


@eas.kernel
def connected_components(image, names, THREADS: eas.constexpr):
    t = mk.tid(0, THREADS)
    height, width = image.shape
    has_changed = mk.alloc_tg(1, mk.i32)
    for pixel in range(t, height * width, THREADS):
        names[pixel] = pixel if image[pixel // width, pixel % width] else -1
    while True:
        mk.barrier()
        if t == 0:
            has_changed[0] = 0
        mk.barrier()
        for pixel in range(t, height * width, THREADS):
            y, x = divmod(pixel, width)
            if not image[y, x]:
                continue
            for down, right in NEIGHBOURS:
                if not (0 <= y + down < height and 0 <= x + right < width):
                    continue
                if not image[y + down, x + right]:
                    continue
                name = mk.atomic_min(names, pixel + down * width + right, pixel)
                if mk.atomic_min(names, pixel, name) > name:
                    mk.atomic_xchg(has_changed, 0, 1)
        mk.barrier()
        if has_changed[0] == 0:
            break


def arguments() -> Arguments:
    image = np.random.default_rng(0).random((9, 13)) < 0.6
    return {"image": image, "names": np.zeros(117, "i4"), "THREADS": 32}


def reference(image: Array, **_: object) -> dict[str, Array]:
    names = np.pad(np.where(image, np.arange(image.size).reshape(image.shape), 999), 1)
    names[[0, -1]], names[:, [0, -1]] = 999, 999
    before = None
    while before is None or (names != before).any():
        before = names.copy()
        sides = [np.roll(names, step, (0, 1)) for step in NEIGHBOURS]
        names = np.where(names < 999, np.minimum.reduce([names, *sides]), 999)
    inner = names[1:-1, 1:-1].ravel()
    return {"names": np.where(inner < 999, inner, -1).astype("i4")}


CASE = Case(connected_components, arguments, reference, grid=(1,))
