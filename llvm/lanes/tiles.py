"""Blocks in memory: dense, in row-major order, with room for one vector behind the last element."""

from __future__ import annotations

from collections.abc import Sequence

from eas.ir.nodes import Value
from eas.ir.types import BOOL, F32, DType, Shape, count
from eas.llvm.emit.dtypes import register
from eas.llvm.emit.emit import Emitter, V, const, vector
from eas.llvm.lanes.addresses import widened
from eas.llvm.lanes.coordinates import Coords, linear
from eas.llvm.lanes.lane_values import Lanes, Steps, Uniform, Vector
from eas.llvm.lanes.memory import read, write
from eas.llvm.lanes.vector_body import Body, Mask
from eas.support.records import frozen


@frozen
class Tile:
    pointer: V
    shape: Shape
    dtype: DType


def _held(dtype: DType) -> DType:
    """The dtype whose numbers in memory are a dtype's in registers."""
    return F32 if dtype.is_float and dtype.bits == 16 else dtype


def make_tile(e: Emitter, value: Value, width: int) -> Tile:
    dtype = _held(value.ty.dtype)
    size = count(value.shape) + width
    element = "i8" if dtype == BOOL else register(dtype)
    return Tile(e.memory(element, size), value.shape, dtype)


def read_tile(body: Body, tile: Tile, coords: Coords) -> Lanes:
    place = _place(body, tile, coords)
    return read(body, tile.pointer, tile.dtype, place, _inside(body, tile, place))


def _inside(body: Body, tile: Tile, place: Lanes) -> Mask:
    """The lanes whose element is in the tile: those beyond the domain's end may be anywhere."""
    if all(mask is None for mask in body.start) or isinstance(place, Uniform):
        return None
    if isinstance(place, Steps) and place.step == 1:
        return None  # there is room behind the last element
    v = body.to_vector(place)
    return Vector(body.e.icmp("ult", v, const(v.ty, count(tile.shape))))


def write_tile(body: Body, tile: Tile, coords: Coords, value: Lanes, mask: Mask) -> None:
    write(body, tile.pointer, tile.dtype, _place(body, tile, coords), value, mask)


def transpose(e: Emitter, source: Tile, target: Tile, width: int) -> None:
    """Fills a tile with matrices whose rows are another's columns; both are multiples of vectors.

    Squares of `width` vectors are turned in registers: a round interleaves the first half of them
    with the second, and after as many rounds as the width has bits all elements have moved there.
    """
    *_, rows, columns = source.shape
    ty = vector(register(source.dtype), width)

    def square(start: V, row: V, column: V) -> None:
        lines = [
            e.load(ty, _element(e, source, start, e.add(row, const("i64", n)), column), 4)
            for n in range(width)
        ]
        for n, line in enumerate(_turned(e, lines)):
            place = _element(e, target, start, e.add(column, const("i64", n)), row)
            e.store(line, place, 4)

    def matrix(start: V) -> None:
        e.count(
            const("i64", 0),
            const("i64", rows),
            width,
            lambda row: e.count(
                const("i64", 0),
                const("i64", columns),
                width,
                lambda column: square(start, row, column),
            ),
        )

    size = rows * columns
    e.count(const("i64", 0), const("i64", count(source.shape)), size, matrix)


def _element(e: Emitter, tile: Tile, start: V, row: V, column: V) -> V:
    """Where an element of the matrix lies that begins at `start`."""
    place = e.add(e.mul(row, const("i64", tile.shape[-1])), column)
    return e.gep(register(tile.dtype), tile.pointer, e.add(start, place))


def _turned(e: Emitter, lines: Sequence[V]) -> Sequence[V]:
    half = len(lines) // 2
    low = [lane // 2 + lane % 2 * 2 * half for lane in range(2 * half)]
    high = [lane + half for lane in low]
    for _ in range(half.bit_length()):
        pairs = zip(lines[:half], lines[half:], strict=True)
        lines = [e.shuffle(a, b, places) for a, b in pairs for places in (low, high)]
    return lines


def _place(body: Body, tile: Tile, coords: Coords) -> Lanes:
    match linear(body.e, coords, tile.shape):
        case Uniform(v):
            return Uniform(widened(body, v))
        case Steps(base=base, step=step, start=start):
            return Steps(widened(body, base), step, start=start)
        case Vector(v):
            return Vector(widened(body, v))
