"""The arrays of a launch, and which of them alias."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eas.support.records import frozen

Array = np.ndarray[Any, np.dtype[Any]]
Extents = tuple[int, int, int]

# No element is longer: an offset that is a multiple of it keeps every array aligned.
GRAIN = 16


@frozen
class Bound:
    """An array at a buffer index: the kernel's pointer is to `flat[origin]`.

    `name` is that of the argument. The kernel does not write to an array that `is_constant`.
    """

    index: int
    flat: Array
    origin: int = 0
    name: str = ""
    is_constant: bool = False


@frozen
class Regions:
    """Memory in regions; `places` has the region and the offset of each array in it."""

    sizes: tuple[int, ...]
    places: tuple[tuple[int, int], ...]


def divide(flats: Sequence[Array]) -> Regions:
    """Puts arrays that overlap into one region, and each of the others into its own."""
    places = [(0, 0)] * len(flats)
    sizes: list[int] = []
    start, end = 0, -1
    for number in sorted(range(len(flats)), key=lambda n: _address(flats[n])):
        address, size = _address(flats[number]), flats[number].nbytes
        if address >= end or size == 0:
            start = end = address - (address % GRAIN if size else 0)
            sizes.append(0)
        places[number] = (len(sizes) - 1, address - start)
        end = max(end, address + size)
        sizes[-1] = end - start
    return Regions(tuple(sizes), tuple(places))


def _address(flat: Array) -> int:
    return flat.__array_interface__["data"][0]
