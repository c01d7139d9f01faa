"""The arrays of a launch in memory that the worker sees, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eas.msl.arrays import Array, divide
from eas.support.records import frozen

ALIGNMENT = 256
# Bytes between arrays: an index that is slightly wrong does not reach another array.
GAP = 4096


@frozen
class Placed:
    """Where flat arrays lie in the shared memory, in bytes, and how many bytes there are."""

    offsets: tuple[int, ...]
    size: int


def place(flats: Sequence[Array]) -> Placed:
    """Gives each array a place; those that share memory share it here, too."""
    regions = divide(flats)
    starts: list[int] = []
    at = GAP
    for size in regions.sizes:
        starts.append(at)
        at += -(-size // ALIGNMENT) * ALIGNMENT + GAP
    return Placed(tuple(starts[region] + offset for region, offset in regions.places), at)


def copy_in(shared: Array, placed: Placed, flats: Sequence[Array]) -> None:
    for offset, flat in zip(placed.offsets, flats, strict=True):
        shared[offset : offset + flat.nbytes] = flat.view(np.uint8)


def copy_out(shared: Array, offset: int, flat: Array) -> None:
    flat.view(np.uint8)[:] = shared[offset : offset + flat.nbytes]
