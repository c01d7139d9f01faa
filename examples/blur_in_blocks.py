"""A large image in blocks with a halo, on a Dask cluster: `python -m examples.blur_in_blocks`.

`map_overlap` gives each worker, a process, a block with the rows and columns around it, and cuts
them off afterwards. The kernel is that of `examples/blur.py`'s kind: a mean over a square.
"""

import os
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


def blur_image(image: dask.array.Array) -> dask.array.Array:
    """An image, blurred block by block; nothing runs before `compute()`."""
    return image.map_overlap(blur_block, depth=RADIUS, boundary="nearest", dtype=image.dtype)


def draw_block(block_info: Any) -> Any:
    """A block of the image, made on a worker: the whole image never travels there."""
    (top, bottom), (left, right) = block_info[None]["array-location"]
    rows, columns = np.ogrid[top:bottom, left:right]
    return np.sin(rows * columns / 1000).astype(np.float32)


def main() -> None:
    chunks = ((1024, 1024, 952), (1024, 1024, 1024, 928))
    image = dask.array.map_blocks(draw_block, chunks=chunks, dtype=np.float32)
    # workers are processes: the kernel is pickled, and each of them compiles it once
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client:
        blurred, whole = dask.array.compute(blur_image(image), image)
        others = set(client.run(os.getpid).values()) - {os.getpid()}
    difference = np.abs(blurred - blur_block(whole)).max()
    print(f"{image.shape} pixels in {image.npartitions} blocks on {len(others)} processes")
    print(f"largest difference to the whole image at once: {difference}")


if __name__ == "__main__":
    main()
