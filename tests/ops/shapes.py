"""The shapes of blocks that ops are tested with."""

from __future__ import annotations

from typing import Any

from eas import mk
from eas.ir.types import F32, I32, DType

Shape = tuple[int, ...]

# scalars, size 1, odd sizes, two axes, more elements than a threadgroup has threads
SHAPES: tuple[Shape, ...] = ((), (1,), (33,), (1100,), (5, 7))
# where it matters how many axes there are, and which of them
BLOCKS: tuple[Shape, ...] = (*SHAPES[1:], (3, 1, 4), (2, 3, 2, 5))
# one of each kind, for what only moves elements: of most dtypes
SMALL: tuple[Shape, ...] = ((33,), (5, 7), (2, 3, 2, 5))
# the threads of a threadgroup: one, a simdgroup and a part of one, many
THREADS: tuple[Shape, ...] = ((1,), (33,), (200,))


def moves(dtype: DType, shape: Shape) -> bool:
    """Whether elements of a dtype are moved in a shape: those of 32 bits in all of them."""
    return dtype in (F32, I32) or shape in ((), *SMALL)


def offsets(shape: Any) -> Any:
    """In a kernel: the offsets of a block in row-major order; of a scalar, zero."""
    if len(shape) == 0:
        return 0
    total = 1
    for extent in shape:
        total *= extent
    flat = mk.arange(0, total)
    return flat if len(shape) == 1 else mk.reshape(flat, shape)
