"""What an expression of an inner task can be: numbers, tensors, partitions, streams of tiles."""

from __future__ import annotations

from typing import TypeAlias

from eas.septran.flat.affine import ZERO, Affine, affine, ceil_div, minimum
from eas.septran.flat.ranges import Ranges, known, size
from eas.support.records import frozen

Number: TypeAlias = "int | Affine"


@frozen
class Tensor:
    """A rectangle of a parameter or local tensor: per axis of that an offset and an extent.

    An axis without an extent is indexed at its offset and is none of the rectangle's own. A window
    is one of several that overlap: `X[s : s + n]` for each `s`.
    """

    root: str
    offsets: tuple[Affine, ...]
    extents: tuple[Affine | None, ...]
    is_window: bool = False

    @property
    def shape(self) -> tuple[Affine, ...]:
        return tuple(extent for extent in self.extents if extent is not None)

    def cut(self, offsets: tuple[Affine, ...], extents: tuple[Affine | None, ...]) -> Tensor:
        """A rectangle of this rectangle, by the axes of this one."""
        inner = iter(zip(offsets, extents, strict=True))
        moved: list[Affine] = []
        sizes: list[Affine | None] = []
        for offset, extent in zip(self.offsets, self.extents, strict=True):
            shift, size = next(inner) if extent is not None else (ZERO, None)
            moved.append(offset + shift)
            sizes.append(size)
        return Tensor(self.root, tuple(moved), tuple(sizes), self.is_window)


def whole(root: str, shape: tuple[Affine, ...]) -> Tensor:
    """All of a parameter or local tensor."""
    return Tensor(root, (ZERO,) * len(shape), shape)


@frozen
class Partition:
    """A tensor cut into tiles. The last tile of an axis may be smaller than the others.

    Neighbours share `overlap` elements along each axis; a partition with any is only read.
    """

    tensor: Tensor
    tile: tuple[Affine, ...]
    overlap: tuple[int, ...]
    shape: tuple[Affine, ...]  # how many tiles there are along each axis

    def pick(self, indices: tuple[Affine | None, ...], ranges: Ranges) -> Tensor:
        """The tile at some indices; without an index it is as long as the axis."""
        parts = [
            (ZERO, extent) if index is None else _place(extent, tile, overlap, index, ranges)
            for extent, tile, overlap, index in zip(
                self.tensor.shape, self.tile, self.overlap, indices, strict=True
            )
        ]
        return self.tensor.cut(tuple(p[0] for p in parts), tuple(p[1] for p in parts))


def partitioned(
    tensor: Tensor, tile: tuple[Affine, ...], overlap: tuple[int, ...], ranges: Ranges
) -> Partition:
    """A tensor cut into tiles of a size."""
    axes = zip(tensor.shape, tile, overlap, strict=True)
    return Partition(tensor, tile, overlap, tuple(_count_tiles(*axis, ranges) for axis in axes))


def _count_tiles(extent: Affine, tile: Affine, overlap: int, ranges: Ranges) -> Affine:
    if tile == extent:
        return affine(1)
    count = ceil_div(extent - overlap, tile.value)
    if known(count) is not None:
        return count
    # A ragged tile, cut again: whatever its extent is, there may be as many tiles of it.
    least, most = ranges.bounds(count)
    return affine(most) if least == most else count


def _place(
    extent: Affine, tile: Affine, overlap: int, index: Affine, ranges: Ranges
) -> tuple[Affine, Affine]:
    """The offset and the true extent of a tile along an axis.

    A tile with an overlap is one of an axis without it, and so much longer: in the last tile, too.
    """
    if tile == extent:
        return ZERO, extent
    if overlap:
        inner = extent - overlap
        number = None if inner.is_constant else known(inner)
        offset, own = _place(inner if number is None else size(number), tile, 0, index, ranges)
        return offset, own + overlap
    if ranges.is_least(extent, tile):
        return ZERO, tile if ranges.is_least(tile, extent) else minimum(tile, extent)
    offset = index * tile.value
    rest = extent - offset
    if ranges.is_least(tile, rest):
        return offset, tile
    if _divides(tile.value, extent) and ranges.stays_below(index, ceil_div(extent, tile.value)):
        return offset, tile
    return offset, minimum(tile, rest)


def _divides(tile: int, extent: Affine) -> bool:
    number = known(extent)
    return number is not None and number % tile == 0


@frozen
class Stream:
    """Tiles of a partition, one after the other along the axes without an index: `Ap[i, :]`."""

    partition: Partition
    indices: tuple[Affine | None, ...]

    @property
    def counts(self) -> tuple[Affine, ...]:
        """How many tiles there are along each of the streamed axes."""
        shape = self.partition.shape
        return tuple(n for n, index in zip(shape, self.indices, strict=True) if index is None)

    def at(self, steps: tuple[Affine, ...], ranges: Ranges) -> Tensor:
        """The tile of a step."""
        left = iter(steps)
        indices = tuple(next(left) if index is None else index for index in self.indices)
        return self.partition.pick(indices, ranges)

    def whole(self, ranges: Ranges) -> Tensor:
        """All tiles together."""
        return self.partition.pick(self.indices, ranges)
