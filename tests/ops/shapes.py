"""The shapes of blocks that ops are tested with."""

from __future__ import annotations

from typing import Any

from eas import mk

Shape = tuple[int, ...]

# scalars, size 1, odd sizes, several axes, more elements than a threadgroup has threads
SHAPES: tuple[Shape, ...] = (
    *((), (1,), (33,), (1100,)),
    *((5, 7), (37, 31), (3, 1, 4), (2, 3, 2, 5)),
)
BLOCKS = tuple(shape for shape in SHAPES if shape)


def offsets(shape: Any) -> Any:
    """In a kernel: the offsets of a block in row-major order; of a scalar, zero."""
    if len(shape) == 0:
        return 0
    total = 1
    for extent in shape:
        total *= extent
    flat = mk.arange(0, total)
    return flat if len(shape) == 1 else mk.reshape(flat, shape)
