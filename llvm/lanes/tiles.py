"""Blocks in memory: dense, row-major, padded by one vector behind the last element."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import Value
from eas.ir.types import BOOL, F32, DType, Shape, count
from eas.llvm.emit.dtypes import register
from eas.llvm.emit.emit import Emitter, V, const, vector
from eas.llvm.lanes.addresses import widened
from eas.llvm.lanes.coordinates import Coords, ravel
from eas.llvm.lanes.lane_values import LaneValue, Strided, Uniform, Vector
from eas.llvm.lanes.memory import read, write
from eas.llvm.lanes.vector_body import Body, Mask
from eas.support.records import frozen


@frozen
class Tile:
    pointer: V
    shape: Shape
    dtype: DType


def _memory_dtype(dtype: DType) -> DType:
    """The dtype that is stored in a tile: numbers are stored as they are in registers."""
    return F32 if dtype.is_float and dtype.bits == 16 else dtype


def make_tile(e: Emitter, value: Value, width: int) -> Tile:
    dtype = _memory_dtype(value.ty.dtype)
    size = count(value.shape) + width
    element = "i8" if dtype == BOOL else register(dtype)
    return Tile(e.memory(element, size), value.shape, dtype)


def read_tile(body: Body, tile: Tile, coords: Coords) -> LaneValue:
    position = _position(body, tile, coords)
    return read(body, tile.pointer, tile.dtype, position, _inside_mask(body, tile, position))


def _inside_mask(body: Body, tile: Tile, position: LaneValue) -> Mask:
    """The lanes whose element is in the tile. Lanes beyond the end of the domain may be outside."""
    if all(mask is None for mask in body.start) or isinstance(position, Uniform):
        return None
    if isinstance(position, Strided) and position.step == 1:
        return None  # the padding behind the last element is read
    v = body.to_vector(position)
    return Vector(body.e.icmp("ult", v, const(v.ty, count(tile.shape))))


def write_tile(body: Body, tile: Tile, coords: Coords, value: LaneValue, mask: Mask) -> None:
    write(body, tile.pointer, tile.dtype, _position(body, tile, coords), value, mask)


def transpose(e: Emitter, source: Tile, length: int, target: Tile, width: int) -> None:
    """Fills a tile with transposed matrices; their extents are multiples of the vector width.

    `length` is how far apart the rows of the source are.
    Squares of `width` vectors are transposed in registers: each of log2(width) rounds interleaves
    the first half of the vectors with the second half.
    """
    *_, rows, columns = source.shape
    ty = vector(register(source.dtype), width)

    def element(tile: Tile, start: V, length: int, row: V, column: V) -> V:
        position = e.add(e.mul(row, const("i64", length)), column)
        return e.gep(register(tile.dtype), tile.pointer, e.add(start, position))

    def square(first: V, start: V, row: V, column: V) -> None:
        lines = [
            e.load(ty, element(source, first, length, e.add(row, const("i64", n)), column), 4)
            for n in range(width)
        ]
        for n, line in enumerate(_transposed(e, lines)):
            below = e.add(column, const("i64", n))
            e.store(line, element(target, start, rows, below, row), 4)

    def matrix(n: V) -> None:
        first, start = e.mul(n, const("i64", rows * length)), e.mul(n, const("i64", rows * columns))
        e.for_range(
            const("i64", 0),
            const("i64", rows),
            width,
            lambda row: e.for_range(
                const("i64", 0),
                const("i64", columns),
                width,
                lambda column: square(first, start, row, column),
            ),
        )

    e.for_range(const("i64", 0), const("i64", count(source.shape[:-2])), 1, matrix)


def _transposed(e: Emitter, lines: Sequence[V]) -> Sequence[V]:
    half = len(lines) // 2
    low = [lane // 2 + lane % 2 * 2 * half for lane in range(2 * half)]
    high = [lane + half for lane in low]
    for _ in range(half.bit_length()):
        pairs = zip(lines[:half], lines[half:], strict=True)
        lines = [e.shuffle(a, b, order) for a, b in pairs for order in (low, high)]
    return lines


def _position(body: Body, tile: Tile, coords: Coords) -> LaneValue:
    match ravel(body.e, coords, tile.shape):
        case Uniform(v):
            return Uniform(widened(body, v))
        case Strided(base=base, step=step, start=start):
            return Strided(widened(body, base), step, start=start)
        case Vector(v):
            return Vector(widened(body, v))
