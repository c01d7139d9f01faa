"""A large image in blocks with a halo, on a Dask cluster: `python -m examples.blur_in_blocks`.

`map_overlap` gives each worker a block with the rows and columns around it, and cuts them off
afterwards. The kernel is that of `examples/blur.py`'s kind: a mean over a square.
"""

from typing import Any

import dask.array
import numpy as np
from dask.distributed import Client, LocalCluster

import eas
from eas import mk

RADIUS = 2


@eas.kernel
def blur(image, out, R: eas.constexpr, BLOCK: eas.constexpr):
    row = mk.program_id(0)
    col = mk.program_id(1) * BLOCK + mk.arange(0, BLOCK)
    height, width = image.shape
    total = mk.zeros((BLOCK,))
    for dr in mk.static_range(-R, R + 1):
        for dc in mk.static_range(-R, R + 1):
            r, c = mk.clamp(row + dr, 0, height - 1), mk.clamp(col + dc, 0, width - 1)
            total += mk.load(image, r * width + c, col < width)
    mk.store(out, row * width + col, total / (2 * R + 1) ** 2, col < width)


def blur_block(block: Any) -> Any:
    """One block with its halo; runs on a worker."""
    image = np.ascontiguousarray(block)
    out = np.empty_like(image)
    rows, columns = image.shape
    blur[rows, -(-columns // 128)](image, out, R=RADIUS, BLOCK=128)
    return out


def blur_image(image: Any, rows: int, columns: int) -> Any:
    """An image, blurred in blocks of `rows` by `columns` pixels."""
    blocks = dask.array.from_array(image, chunks=(rows, columns))
    mapped = blocks.map_overlap(blur_block, depth=RADIUS, boundary="nearest", dtype=image.dtype)
    return mapped.compute()


def main() -> None:
    image = np.random.default_rng(0).random((600, 800), dtype=np.float32)
    options = {"threads_per_worker": 1, "processes": False, "dashboard_address": None}
    cluster = LocalCluster(n_workers=2, **options)
    with cluster, Client(cluster):
        blurred = blur_image(image, 256, 256)
    difference = np.abs(blurred - blur_block(image)).max()
    print(f"12 blocks on 2 workers, largest difference to the whole image at once: {difference}")


if __name__ == "__main__":
    main()
