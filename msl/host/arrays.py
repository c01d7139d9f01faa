"""The arrays of a launch in memory that the worker sees, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

ALIGNMENT = 256
# Between arrays, so that an index that is off by little meets nobody's data.
GAP = 4096


@dataclass(frozen=True, slots=True)
class Placed:
    """Where flat arrays lie in the shared memory, in bytes, and how many bytes there are."""

    offsets: tuple[int, ...]
    size: int


def place(flats: Sequence[Array]) -> Placed:
    """Gives each array a place; those that share memory share it here, too."""
    order = sorted(range(len(flats)), key=lambda n: _address(flats[n]))
    offsets = [0] * len(flats)
    at, start, end = GAP, 0, -1
    for number in order:
        address, size = _address(flats[number]), flats[number].nbytes
        if address >= end or size == 0:
            at += -(-max(end - start, 0) // ALIGNMENT) * ALIGNMENT + GAP
            start, end = address, address
        offsets[number] = at + address - start
        end = max(end, address + size)
    return Placed(tuple(offsets), at + max(end - start, 0) + GAP)


def copy_in(shared: Array, placed: Placed, flats: Sequence[Array]) -> None:
    for offset, flat in zip(placed.offsets, flats, strict=True):
        shared[offset : offset + flat.nbytes] = flat.view(np.uint8)


def copy_out(shared: Array, offset: int, flat: Array) -> None:
    flat.view(np.uint8)[:] = shared[offset : offset + flat.nbytes]


def _address(flat: Array) -> int:
    return flat.__array_interface__["data"][0]
